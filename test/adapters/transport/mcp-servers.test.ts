import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createRegistry, type Scope } from '../../../src/index.ts';
import { fakeMcp } from '../../fixtures/mcp.ts';
import { says, scriptedModel } from '../../fixtures/model.ts';
import { testRuntime } from '../../fixtures/runtime.ts';
import { signedEndpoint } from '../../fixtures/signed-endpoint.ts';

const allScopes: readonly Scope[] = ['registry:write', 'registry:read'];

async function endpoint(mcp = fakeMcp(), scopes = allScopes, deployment = true) {
  const storage = memoryStorage();
  const catalog = createRegistry({ storage });
  await catalog.put('provider', { id: 'default', kind: 'custom' });
  await catalog.put('agent', { id: 'helper', name: 'Helper', providerId: 'default', mcp: { 'docs-server': {} } });
  await catalog.put('mcpServer', { id: 'docs-server', alias: 'docs', url: 'https://docs.example.com/mcp' });
  const runtime = testRuntime({ ...scriptedModel(says('hi')), catalog, storage, mcp: mcp.connector });
  const signed = await signedEndpoint(runtime);
  return {
    client: await signed.client({ scopes, deployment }),
    serve: signed.serve,
    connections: () => mcp.asked.connects,
  };
}

describe('POST /v1/mcp-servers/:id/validate', () => {
  it('refuses unknown servers, unknown options, and callers without the scope', async () => {
    const { client } = await endpoint();
    await expect(client.validateMcpServer('nowhere')).rejects.toMatchObject({ code: 'not_found' });
    const body = { approve: 'yes' };
    await expect(client.call('POST', '/v1/mcp-servers/docs-server/validate', { body })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
    const reader = await endpoint(fakeMcp(), ['registry:read']);
    await expect(reader.client.validateMcpServer('docs-server')).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('refuses a tenant that would check a shared server', async () => {
    const { client } = await endpoint();
    await client.validateMcpServer('docs-server');
    const tenant = await endpoint(fakeMcp(), ['registry:read', 'registry:write'], false);
    const refused = { code: 'forbidden', details: { reason: 'shared_record' } };
    await expect(tenant.client.validateMcpServer('docs-server', { approve: true })).rejects.toMatchObject(refused);
    await expect(tenant.client.validateMcpServer('docs-server')).rejects.toMatchObject(refused);
    expect(tenant.connections()).toBe(0);
  });
});
