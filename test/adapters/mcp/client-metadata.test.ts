import { describe, expect, it } from 'vitest';
import { mcpSignIn } from '../../../adapters/mcp/sign-in.ts';
import { bearerAuthenticator } from '../../../adapters/transport/bearer-authenticator.ts';
import { createHandler } from '../../../adapters/transport/http.ts';
import type { McpSignIn } from '../../../src/contracts/mcp/sign-in.ts';
import { createOAuthPeer, person, redirectUri, signInWorld } from '../../fixtures/mcp/oauth-peer.ts';

const { egress } = createOAuthPeer();
const authenticator = bearerAuthenticator({ tokens: [] });

/** Starts a sign-in at an authorization server, and serves the endpoint whose runtime does so. */
async function started(reads: boolean, endpointUrl = 'https://agents.example/pinnace/') {
  let signIn: McpSignIn | undefined;
  const world = await signInWorld({
    server: { client_id_metadata_document_supported: reads },
    mcpSignIn: (own) =>
      signIn = mcpSignIn({ egress: own, redirectUris: [redirectUri], endpointUrl, clientName: 'Acme' }),
  });
  const { runtime, oauth } = world;
  await world.approve();
  const { url } = await runtime.mcpSignIns.start('docs', { redirectUri }, person());
  const serve = createHandler(runtime, { authenticator, basePath: '/pinnace', ...(signIn && { mcpSignIn: signIn }) });
  return { clientId: new URL(url).searchParams.get('client_id') ?? '', serve, oauth };
}

describe('the client ID metadata document', () => {
  it('is not the client id of an authorization server that does not read it', async () => {
    const { clientId, oauth } = await started(false);
    expect(clientId).not.toContain('client.json');
    expect(oauth.to('/register')).toHaveLength(1);
  });

  it.each([
    'http://agents.example',
    'agents.example',
    'https://a:b@agents.example',
    'https://agents.example?a=1',
    'https://agents.example#a',
  ])(
    'needs an https address without more: %s',
    (endpointUrl) => {
      const create = () => mcpSignIn({ egress, redirectUris: [redirectUri], endpointUrl });
      expect(create).toThrow(expect.objectContaining({ details: { reason: 'invalid_redirect_uri' } }));
    },
  );
});
