/** The metadata document of the runtime as an OAuth client: authorization servers read it at the client id. */

import * as v from 'valibot';
import type { McpClientMetadata } from '../../../../src/contracts/mcp/sign-in.ts';
import { json, type Operations, shapeOf } from '../operation.ts';
import type { Served } from '../served.ts';

const Document = v.object({
  client_id: v.string(),
  client_name: v.string(),
  redirect_uris: v.array(v.string()),
  grant_types: v.array(v.string()),
  response_types: v.array(v.string()),
  token_endpoint_auth_method: v.literal('none'),
});

/** The operations of these routes. */
export const clientMetadataOperations = {
  'GET /oauth/client.json': {
    operationId: 'getClientMetadata',
    summary: 'The client ID metadata document of sign-ins to MCP servers',
    responses: { 200: json('The document', shapeOf(Document)) },
  },
} satisfies Operations;

/** Creates the route. The document is public: every page may read it. */
export function clientMetadataRoutes({ serve: table }: Served, metadata: McpClientMetadata): void {
  const serve = table(clientMetadataOperations);
  const headers = { 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=3600' };
  serve('GET /oauth/client.json', (c) => c.json(metadata, 200, headers));
}
