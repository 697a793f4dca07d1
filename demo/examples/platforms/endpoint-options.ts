/** What the endpoints of these examples serve: one agent, one tool, one token. */

import { defineTool } from 'pinnace';
import { staticCatalog } from 'pinnace/catalog/static';
import { bearerAuthenticator, digestOfToken } from 'pinnace/transport/bearer-authenticator';

const catalog = staticCatalog({
  agents: [{ id: 'helper', name: 'Helper', providerId: 'main', entryTools: ['add'] }],
  providers: [{ id: 'main', kind: 'rehearsal' }], // or openai-compatible with a baseUrl and a secret
});
const tools = [
  defineTool({
    id: 'add',
    description: 'Adds two numbers',
    input: {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number' } },
      required: ['a', 'b'],
    },
    annotations: { readOnlyHint: true },
    execute: ({ a, b }) => a + b,
  }),
];

/** The options of an endpoint that a bearer of this token may use. */
export async function endpointOptions(token: string) {
  const digest = await digestOfToken(token);
  const scopes = ['run:create', 'run:read', 'run:cancel', 'tool:approve'] as const;
  const authenticator = bearerAuthenticator({
    tokens: [{ digest, tenant: 'acme', subject: 'ada', agents: ['helper'], scopes }],
  });
  return { catalog, tools, authenticator: () => authenticator };
}
