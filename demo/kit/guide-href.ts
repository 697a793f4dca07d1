/** The address of a page of the documentation, or of a place on it, as seen from the playground's page. */
export function guideHref(page: string, anchor?: string): string {
  return `./docs/${page}.html${anchor === undefined ? '' : `#${anchor}`}`;
}
