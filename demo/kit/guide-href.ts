/** The address of a documentation page or section, relative to the playground's page. */
export function guideHref(page: string, anchor?: string): string {
  return `./docs/${page}.html${anchor === undefined ? '' : `#${anchor}`}`;
}
