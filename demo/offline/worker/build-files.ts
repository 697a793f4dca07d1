/** What a build consists of, as the service worker is told it. */

/** One file of the build. */
export interface BuiltFile {
  /** Below the page's folder; empty for the page itself, which every file server gives for its folder. */
  readonly path: string;
  /** What its bytes must be, as in `integrity` of HTML: `sha256-` and Base64. */
  readonly integrity: string;
}

/** The files of a build. */
export interface Build {
  /** The same for the same files, and another for others. */
  readonly version: string;
  /** All that the page may ask for; they are kept from the first visit on. */
  readonly files: readonly BuiltFile[];
  /** The documentation, which is kept from the first look at it on: its guides at once, a picture and what else there is when it has been seen. */
  readonly docs: readonly BuiltFile[];
}
