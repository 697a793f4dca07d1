/** The metadata document of the runtime as an OAuth client: authorization servers read it at the client id. */

import { Hono } from 'hono';
import * as v from 'valibot';
import type { McpClientMetadata } from '../../../../src/contracts/mcp/sign-in.ts';
import type { SignedEnv } from '../env.ts';
import { json, open, type Operation, shapeOf } from '../operation.ts';

const Document = v.object({
  client_id: v.string(),
  client_name: v.string(),
  redirect_uris: v.array(v.string()),
  grant_types: v.array(v.string()),
  response_types: v.array(v.string()),
  token_endpoint_auth_method: v.literal('none'),
});

const getClientMetadata: Operation = {
  operationId: 'getClientMetadata',
  summary: 'The client ID metadata document of sign-ins to MCP servers',
  responses: { 200: json('The document', shapeOf(Document)) },
};

/** Creates the route. The document is public: every page may read it. */
export function clientMetadataRoutes(metadata: McpClientMetadata): Hono<SignedEnv> {
  const app = new Hono<SignedEnv>();
  const headers = { 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=3600' };
  app.get('/client.json', open(getClientMetadata), (c) => c.json(metadata, 200, headers));
  return app;
}
