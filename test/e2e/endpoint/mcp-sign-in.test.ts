import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../../adapters/transport/client.ts';
import { sealKey } from '../../fixtures/mcp/oauth-peer.ts';
import { consent, redirectUri, startServers, type World } from '../../fixtures/mcp/oidc-servers.ts';
import { type EndpointProcess, startEndpoint } from '../../tools/servers/endpoint.ts';

let folder: string;
let world: World;
const running: EndpointProcess[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pinnace-sign-in-'));
  world = await startServers();
});
afterAll(async () => {
  await Promise.all(running.map((endpoint) => endpoint.stop('SIGKILL')));
  world.close();
  await rm(folder, { recursive: true, force: true });
});

/** Starts an instance, a process of its own, on the file that all share. */
async function start() {
  const endpoint = await startEndpoint({
    script: 'test/fixtures/processes/sign-in-server.ts',
    env: {
      PINNACE_KV: join(folder, 'state.kv'),
      SIGN_IN_LOOPBACK: `${world.issuer} ${world.mcp}`,
      SIGN_IN_REDIRECT: redirectUri,
      SIGN_IN_SEAL_KEY: sealKey,
    },
    permissions: [`--allow-read=${folder}`, `--allow-write=${folder}`],
  });
  running.push(endpoint);
  const client = createClient({ url: endpoint.url, credentials: { bearer: endpoint.token } });
  return { endpoint, client };
}

describe('sign-in to an MCP server at an endpoint on Deno', () => {
  it('finishes at another instance after the first was killed between the consent and the callback', async () => {
    const first = await start();
    const record = { id: 'docs', alias: 'docs', url: `${world.mcp}/mcp`, auth: { issuer: world.issuer } };
    const headers = { authorization: `Bearer ${first.endpoint.token}`, 'content-type': 'application/json' };
    const body = JSON.stringify(record);
    const written = await fetch(`${first.endpoint.url}/v1/mcp-servers`, { method: 'POST', headers, body });
    expect(written.status).toBe(201);
    const look = await first.client.validateMcpServer('docs');
    expect(look).toMatchObject({ signedIn: false, tools: [], auth: { issuer: world.issuer } });
    await first.client.validateMcpServer('docs', { approve: true, digest: look.digest });
    const { url } = await first.client.mcpSignIns.start('docs', { redirectUri });
    const query = await consent(url);
    await first.endpoint.stop('SIGKILL');

    const [second, third] = await Promise.all([start(), start()]);
    await second.client.mcpSignIns.finish({ state: '', ...query });
    await expect(third.client.mcpSignIns.finish({ state: '', ...query })).rejects.toMatchObject({ code: 'not_found' });
    expect(await third.client.mcpSignIns.grant('docs')).toMatchObject({ state: 'active' });
    const signedIn = await third.client.validateMcpServer('docs');
    expect(signedIn.tools.map(({ name }) => name)).toContain('echo');
  });
});
