/** The URL that stands for the page among MCP servers. It is never requested. */
export function pageToolsUrl(): string {
  return `${location.origin}/webmcp`;
}
