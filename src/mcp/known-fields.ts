/** The fields of a tool's definition that MCP knows (2026-07-28). */
export const knownFields: ReadonlySet<string> = new Set([
  'name',
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  'annotations',
  'execution',
  'icons',
  '_meta',
]);
