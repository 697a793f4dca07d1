/** Reads the challenge of an MCP server that wants a token. */

import type { McpChallenge } from '../../../src/contracts/mcp/sign-in.ts';
import { extractWWWAuthenticateParams } from '../sdk-2026.ts';

/** Returns the challenge of a refusal. One for other schemes, or none, has no facts. */
export function challengeOf({ status, headers }: Response): McpChallenge {
  const kind = status === 403 ? 403 : 401;
  const bearer = bearerOf((headers.get('www-authenticate') ?? '').slice(0, maxLength));
  if (bearer === undefined) return { status: kind };
  const answer = new Response(null, { headers: { 'www-authenticate': bearer } });
  const { error, scope, resourceMetadataUrl } = extractWWWAuthenticateParams(answer);
  return {
    status: kind,
    ...(error !== undefined && { error: error.slice(0, 100) }),
    ...(scope !== undefined && { scope }),
    ...(resourceMetadataUrl && { resourceMetadata: resourceMetadataUrl.href }),
  };
}

const maxLength = 8192;

/** The library reads a header that begins with the scheme only: a server may offer other schemes before it (RFC 9110, 11.6.1). */
function bearerOf(header: string): string | undefined {
  const parts = header.match(/(?:[^,"]|"(?:[^"\\]|\\.)*")+/g) ?? [];
  let found: string[] | undefined;
  for (const part of parts.map((text) => text.trim())) {
    const startsScheme = /^[!#$%&'*+.^_`|~\w-]+(?:\s+[^\s=]|$)/.test(part);
    if (found && startsScheme) break;
    if (found) found.push(part);
    else if (/^(?:bearer|dpop)\s/i.test(part)) found = [part];
  }
  return found?.join(', ');
}
