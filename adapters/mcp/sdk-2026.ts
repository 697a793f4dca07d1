/** The door of `@modelcontextprotocol/client`, all protocol revisions. It names what is used, so that bundles contain no more. */

export {
  checkResourceAllowed,
  Client,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  refreshAuthorization,
  registerClient,
  resolveClientMetadata,
  type StandardSchemaV1,
  startAuthorization,
  StreamableHTTPClientTransport,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client';
