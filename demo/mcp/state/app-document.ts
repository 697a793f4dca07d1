/** The document of an app: its HTML behind a policy that is made of approved origins alone. */

import type { McpApp } from '../../../src/contracts/mcp/content.ts';

/** Returns the document. The policy comes before everything that it governs. */
export function appDocument({ html, csp }: Pick<McpApp, 'html' | 'csp'>): string {
  return `<!doctype html><meta http-equiv="Content-Security-Policy" content="${appPolicy(csp)}">` +
    `<meta http-equiv="x-dns-prefetch-control" content="off">${html}`;
}

/** Returns the policy. Nested frames, plugins, workers and forms that are sent have no way out, whatever is approved. */
export function appPolicy({ connect, resource }: McpApp['csp']): string {
  const origins = resource.filter(isOrigin).join(' ');
  const requests = connect.filter(isOrigin).join(' ');
  return [
    "default-src 'none'",
    `script-src 'unsafe-inline' ${origins}`,
    `style-src 'unsafe-inline' ${origins}`,
    `img-src data: blob: ${origins}`,
    `font-src data: ${origins}`,
    `media-src data: blob: ${origins}`,
    `connect-src ${requests || "'none'"}`,
    "worker-src 'none'",
    "frame-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].map((directive) => directive.trim()).join('; ');
}

/** The runtime has checked them; an endpoint may be another's. */
function isOrigin(text: string): boolean {
  return /^(?:https?|wss?):\/\/(?:\*\.)?[a-z\d.-]+(?::\d{1,5})?$/.test(text);
}
