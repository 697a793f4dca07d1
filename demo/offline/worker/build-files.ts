/** The files of a build, for the service worker. */

export interface BuiltFile {
  /** Below the page's folder; empty for the page itself, which every file server returns for its folder. */
  readonly path: string;
  /** What its bytes must be, as in `integrity` of HTML: `sha256-` and Base64. */
  readonly integrity: string;
}

export interface Build {
  /** The same for the same files, and another for others. */
  readonly version: string;
  /** All files that the page may request; cached from the first visit on. */
  readonly files: readonly BuiltFile[];
  /** The documentation, cached from its first view on: guides at once, pictures and the rest when viewed. */
  readonly docs: readonly BuiltFile[];
}
