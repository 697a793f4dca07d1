/** What a build consists of, as the service worker is told it. */

/** One file of the build. */
export interface BuiltFile {
  /** Below the page's folder; empty for the page itself, which every file server gives for its folder. */
  readonly path: string;
  /** What its bytes must be, as in `integrity` of HTML: `sha256-` and Base64. */
  readonly integrity: string;
}

/** The files of a build, all of which the page may ask for. */
export interface Build {
  /** The same for the same files, and another for others. */
  readonly version: string;
  readonly files: readonly BuiltFile[];
}
