import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createRegistry, type Registry, type ToolDefinitionInput } from '../../../src/index.ts';
import type { RegistryOptions } from '../../../src/registry/index.ts';
import { agent, dataSource, mcpServer, provider, tool } from '../../fixtures/records.ts';

const registryOf = (options: Partial<RegistryOptions> = {}): Registry =>
  createRegistry({ storage: memoryStorage(), ...options });

const refusal = (...fields: readonly [field: string, reason: string][]) => ({
  code: 'invalid_argument',
  details: {
    reason: fields[0]?.[1],
    issues: fields.map(([field, reason]) => ({ field, reason, path: field, message: expect.any(String) as string })),
  },
});

const http = (config: object, rest: Partial<ToolDefinitionInput> = {}): ToolDefinitionInput =>
  tool({ type: 'http', config: { origin: 'https://api.example.com', ...config }, ...rest });

const manyFields = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, 'value']));

describe('a registry that registers an HTTP tool', () => {
  it.each<[config: object, field: string, reason: string]>([
    [{ origin: 'https://127.0.0.1' }, 'config.origin', 'address_not_public'],
    [{ origin: 'https://[::1]:22' }, 'config.origin', 'address_not_public'],
    [{ origin: 'https://169.254.169.254' }, 'config.origin', 'address_not_public'],
    [{ origin: 'https://localhost' }, 'config.origin', 'host_not_public'],
    [{ origin: 'https://metadata.google.internal' }, 'config.origin', 'host_not_public'],
    [{ origin: 'https://{host}.example.com' }, 'config.origin', 'placeholder_in_origin'],
    [{ origin: 'https://{host}' }, 'config.origin', 'placeholder_in_origin'],
    [{ origin: 'http://api.example.com' }, 'config.origin', 'scheme_not_allowed'],
    [{ origin: 'ftp://api.example.com' }, 'config.origin', 'scheme_not_allowed'],
    [{ origin: 'https://u:p@api.example.com' }, 'config.origin', 'credentials_or_escapes_in_authority'],
    [{ origin: 'https://api.example.com/v1' }, 'config.origin', 'origin_not_listed'],
    [{ origin: undefined }, 'config.origin', 'missing'],
    [{ redirectOrigins: ['https://10.0.0.1'] }, 'config.redirectOrigins.0', 'address_not_public'],
    [{ path: '/a/{{secret:key}}' }, 'config.path', 'secret_not_allowed'],
    [{ query: { key: '{{secret:key}}' } }, 'config.query.key', 'secret_not_allowed'],
    [{ method: 'TRACE' }, 'config.method', 'method_not_allowed'],
    [{ headers: { Host: 'internal' } }, 'config.headers.Host', 'header_not_allowed'],
    [{ headers: { 'transfer-encoding': 'chunked' } }, 'config.headers.transfer-encoding', 'header_not_allowed'],
    [{ headers: { 'x-key': '{{secret:other}}' } }, 'secrets', 'secret_not_listed'],
    [{ headers: { 'x-key': 'a\r\nhost: internal' } }, 'config.headers.x-key', 'invalid_value'],
    [{ query: manyFields(101) }, 'config.query', 'invalid_value'],
    [{ headers: manyFields(101) }, 'config.headers', 'invalid_value'],
    [{ method: 'POST', body: { fields: manyFields(101) } }, 'config.body.fields', 'invalid_value'],
  ])('refuses %j at %s: %s', async (config, field, reason) => {
    const registering = registryOf().tools.register(http(config, { secrets: [{ id: 'key' }] }));
    await expect(registering).rejects.toMatchObject(refusal([field, reason]));
  });

  it('takes private origins that the composition lists, and plain http there', async () => {
    const origin = 'http://10.1.2.3:8080';
    const config = { origin, redirectOrigins: ['https://stock.internal'] };
    await expect(registryOf().tools.register(http(config))).rejects.toMatchObject(
      refusal(['config.origin', 'scheme_not_allowed'], ['config.redirectOrigins.0', 'host_not_public']),
    );
    const registry = registryOf({ privateOrigins: [origin, 'https://stock.internal'] });
    expect(await registry.tools.register(http(config))).toMatchObject({ config: { origin } });
  });

  it('keeps a record that was stored before readable, and lets it be disabled', async () => {
    const storage = memoryStorage();
    const before = registryOf({ storage, handlers: { old: () => 1 } });
    await before.tools.register(tool({ type: 'function', config: { handler: 'old' } }));
    const registry = registryOf({ storage });
    expect(await registry.tools.get('add')).toMatchObject({ config: { handler: 'old' } });
    expect(await registry.tools.disable('add')).toMatchObject({ state: 'disabled' });
  });
});

describe('a registry that registers a tool', () => {
  it.each<[Partial<ToolDefinitionInput>, field: string, reason: string]>([
    [{ type: 'function', config: { handler: 'nope' } }, 'config.handler', 'unknown_handler'],
    [{ type: 'extension', config: { handler: 'toString' } }, 'config.handler', 'unknown_handler'],
    [{ type: 'function', config: undefined }, 'config.handler', 'unknown_handler'],
    [{ type: 'code', config: {} }, 'config.code', 'missing'],
    [{ type: 'code', config: { code: '' } }, 'config.code', 'invalid_value'],
    [{ type: 'agent', config: {} }, 'config.agentId', 'missing'],
    [{ type: 'datastore', config: { dataSourceId: 5 } }, 'config.dataSourceId', 'invalid_value'],
    [{ type: 'builtin' }, 'id', 'unknown_builtin'],
    [{ type: 'mcp' }, 'type', 'mcp_tools_come_from_servers'],
  ])('refuses %j at %s: %s', async (fields, field, reason) => {
    const registry = registryOf({ handlers: { known: () => 1, other: () => 2 } });
    await expect(registry.tools.register(tool(fields))).rejects.toMatchObject(refusal([field, reason]));
  });

  it('takes a handler that it knows, and names those when it does not know one', async () => {
    const registry = registryOf({ handlers: { known: () => 1 } });
    await registry.tools.register(tool({ type: 'function', config: { handler: 'known' } }));
    await expect(registry.tools.register(tool({ id: 'b', name: 'b', type: 'function' }))).rejects.toThrow(
      'Cannot register the tool: "config.handler" is no handler that is known here; must be one of known',
    );
  });

  it('takes agents and data sources as tools', async () => {
    const registry = registryOf();
    await registry.tools.register(tool({ type: 'agent', config: { agentId: 'helper' } }));
    await registry.tools.register(tool({ id: 'b', name: 'b', type: 'datastore', config: { dataSourceId: 'manuals' } }));
    expect((await registry.tools.list()).items).toHaveLength(2);
  });

  it('refuses a pattern that cannot run in linear time with its field and its position', async () => {
    const paramsSchema = { type: 'object', properties: { name: { type: 'string', pattern: 'x(?=y)' } } };
    await expect(registryOf().tools.register(tool({ paramsSchema }))).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'invalid_pattern', field: '/paramsSchema/properties/name/pattern', position: 1 },
    });
  });

  it.each(['1.0.0-01', '1.0.0-a.01', '1.0.0-', '1.0.0-a..b', '1.0.0+', '01.0.0', '1.0', 'v1.0.0', '1.0.0+a+b'])(
    'refuses the version %s',
    async (version) => {
      await expect(registryOf().tools.register(tool({ version }))).rejects.toMatchObject({
        code: 'invalid_argument',
        details: { issues: [{ path: 'version' }] },
      });
    },
  );

  it.each(['1.0.0', '0.0.0-0', '1.0.0-alpha.1', '1.0.0-0a.01b', '1.0.0--', '1.0.0+001', '1.0.0-x.7.z.92+a-b.0'])(
    'takes the version %s',
    async (version) => {
      expect(await registryOf().tools.register(tool({ version }))).toMatchObject({ version });
    },
  );
});

describe('a registry that registers a provider', () => {
  it.each<[baseUrl: string | undefined, reason: string]>([
    [undefined, 'missing_base_url'],
    ['http://169.254.169.254', 'address_not_public'],
    ['https://169.254.169.254/latest', 'address_not_public'],
    ['http://[::1]:22', 'address_not_public'],
    ['http://localhost:11434/v1', 'host_not_public'],
    ['http://api.example.com/v1', 'scheme_not_allowed'],
    ['https://intranet/v1', 'host_not_public'],
  ])('refuses one at %s: %s', async (baseUrl, reason) => {
    const registering = registryOf().providers.register(
      provider({ kind: 'openai-compatible', ...(baseUrl !== undefined && { baseUrl }) }),
    );
    const { details } = await registering.then(() => expect.unreachable(), (error: unknown) => error) as {
      details: { reason: string; issues: unknown };
    };
    expect(details.issues).toMatchObject([{ field: 'baseUrl' }]);
    expect([reason, 'scheme_not_allowed']).toContain(details.reason);
  });

  it('takes a private address only where the composition allows its origin', async () => {
    const local = provider({ kind: 'openai-compatible', baseUrl: 'http://localhost:11434/v1' });
    const registry = registryOf({ privateOrigins: ['loopback', 'http://10.1.2.3:8000'] });
    expect(await registry.providers.register(local)).toMatchObject({ baseUrl: 'http://localhost:11434/v1' });
    const inside = { ...local, id: 'inside', baseUrl: 'http://10.1.2.3:8000/v1' };
    expect(await registry.providers.register(inside)).toMatchObject({ id: 'inside' });
    await expect(registry.providers.register({ ...inside, id: 'other', baseUrl: 'http://10.1.2.3:8001/v1' })).rejects
      .toMatchObject({ code: 'invalid_argument' });
    expect(() => registryOf({ privateOrigins: ['10.1.2.3'] })).toThrow('Cannot allow the private origin');
  });
});

describe('a registry that registers an agent', () => {
  it('refuses a provider and data sources that it does not know', async () => {
    const registry = registryOf();
    await registry.dataSources.register(dataSource());
    const one = agent({ providerId: 'nobody', dataSources: ['manuals', 'nowhere'] });
    await expect(registry.agents.register(one)).rejects.toMatchObject(
      refusal(['providerId', 'unknown_provider'], ['dataSources.1', 'unknown_data_source']),
    );
  });

  it('refuses a fallback whose provider it does not know, and keeps one that it knows', async () => {
    const registry = registryOf();
    const { id: providerId } = await registry.providers.register(provider());
    const fallbacks = [{ providerId, model: 'small' }, { providerId: 'nobody' }];
    await expect(registry.agents.register(agent({ providerId, fallbacks }))).rejects.toMatchObject(
      refusal(['fallbacks.1.providerId', 'unknown_provider']),
    );
    await registry.agents.register(agent({ providerId, fallbacks: fallbacks.slice(0, 1) }));
    expect((await registry.agents.list()).items[0]).toMatchObject({ fallbacks: [{ providerId, model: 'small' }] });
  });
});

describe('a registry that registers a record with long lists', () => {
  const many = (count: number): string[] => Array.from({ length: count }, (_, at) => `item-${at}`);

  it('refuses an agent that names more than 100 MCP servers', async () => {
    const mcp = Object.fromEntries(many(101).map((id) => [id, {}]));
    await expect(registryOf().agents.register(agent({ mcp }))).rejects.toMatchObject({
      details: { issues: [{ path: 'mcp', message: 'must name at most 100 servers' }] },
    });
  });
});

describe('a registry that registers an MCP server', () => {
  it.each([
    ['http://mcp.example.com/mcp', 'scheme_not_allowed'],
    ['http://127.0.0.1:8080/mcp', 'scheme_not_allowed'],
    ['https://127.0.0.1/mcp', 'address_not_public'],
    ['https://169.254.169.254/mcp', 'address_not_public'],
    ['https://localhost/mcp', 'host_not_public'],
  ])('refuses the address %s: %s', async (url, reason) => {
    const registry = registryOf();
    const expected = refusal(['url', reason]);
    await expect(registry.mcpServers.register(mcpServer({ url }))).rejects.toMatchObject(expected);
    const document = { format: 'pinnace-catalog', formatVersion: 1, mcpServers: [mcpServer({ url })] };
    await expect(registry.import(document)).rejects.toMatchObject(expected);
  });

  it('accepts private origins that the composition lists', async () => {
    const registry = registryOf({ privateOrigins: ['loopback', 'http://10.0.0.7:9000'] });
    const { url } = await registry.mcpServers.register(mcpServer({ url: 'http://127.0.0.1:8080/mcp' }));
    expect(url).toBe('http://127.0.0.1:8080/mcp');
    await registry.mcpServers.update('files', { url: 'http://10.0.0.7:9000/mcp' }, { version: 1 });
    await expect(registry.mcpServers.update('files', { url: 'http://10.0.0.8/mcp' }, { version: 2 })).rejects
      .toMatchObject(refusal(['url', 'scheme_not_allowed']));
  });
});
