/** Previews the request that an HTTP tool would send. */

import { Secret, type Tool } from '../../../src/index.ts';
import type { ToolDefinition } from '../../../src/registry/index.ts';
import { invalid, parse } from '../../../src/base/parse.ts';
import { buildRequest } from '../../../src/tools/call-http.ts';
import { HttpToolConfig, needsApproval } from '../../../src/tools/http-config.ts';
import type { ToolRequest } from '../../control/trial-control.ts';

/**
 * Returns the request without resolving or including secrets.
 *
 * @throws PinnaceError `invalid_argument` for an input that does not fit, and for a template that is none.
 */
export async function previewRequest(definition: ToolDefinition, tool: Tool, given: unknown): Promise<ToolRequest> {
  const checked = await tool.check(given);
  if (!checked.ok) throw invalid('the input', checked.issues);
  const config = parse(HttpToolConfig, definition.config, { what: 'the template' });
  // They stay closed: only their names are shown.
  const closed = definition.secrets.map(({ id }) => [id, new Secret({ id, version: '', value: '' })]);
  const input = checked.input as Readonly<Record<string, unknown>>; // an HTTP tool's is an object
  const { request, secretHeaders, secretFields } = buildRequest(config, {
    input,
    secrets: Object.fromEntries(closed),
  });
  const shown = (parts: readonly (string | Secret)[]): string => parts.map(String).join('');
  const fields = Object.entries(secretFields).map(([name, parts]) => [name, shown(parts)]);
  return {
    method: request.method,
    url: request.url,
    headers: [
      ...request.headers,
      ...Object.entries(secretHeaders).map(([name, parts]) => [name.toLowerCase(), shown(parts)] as const),
    ],
    ...(config.body && { body: withFields(await request.text(), fields, config.body.as) }),
    needsApproval: needsApproval(config),
  };
}

function withFields(body: string, fields: readonly (readonly string[])[], as: 'json' | 'form'): string {
  if (as === 'json') return JSON.stringify({ ...JSON.parse(body), ...Object.fromEntries(fields) }, null, 2);
  return [body, ...fields.map(([name = '', text]) => `${encodeURIComponent(name)}=${text}`)]
    .filter((part) => part !== '').join('&');
}
