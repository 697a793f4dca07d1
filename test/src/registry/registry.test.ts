import { describe, expect, it } from 'vitest';
import { memorySink } from '../../../adapters/sinks/memory.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { parse } from '../../../src/base/parse.ts';
import { ToolDefinition } from '../../../src/base/schema.ts';
import {
  type AgentInput,
  createRegistry,
  localPrincipal,
  PinnaceError,
  type Registry,
  type Storage,
  type ToolDefinitionInput,
} from '../../../src/index.ts';
import type { RegistryOptions } from '../../../src/registry/index.ts';
import { agent, dataSource, mcpServer, provider, tool, tools } from '../../fixtures/records.ts';

const bad = { code: 'invalid_argument' };
const stale = { code: 'conflict', status: 412, details: { reason: 'revision_mismatch' } };

function registryOf(options: Partial<RegistryOptions> = {}): Registry {
  return createRegistry({ storage: memoryStorage(), ...options });
}

/** A registry with two tools and an agent that is bound to the first. */
async function filled(options: Partial<RegistryOptions> = {}): Promise<Registry> {
  const registry = registryOf(options);
  await registry.providers.register(provider());
  for (const id of ['add', 'subtract']) await registry.tools.register(tool({ id, name: id }));
  await registry.agents.register(agent({ entryTools: ['add'] }));
  return registry;
}

describe('a registry', () => {
  it('says which kinds of records there are', async () => {
    await expect(registryOf().put('agents' as 'agent', agent())).rejects.toThrow('the kinds are agent, provider');
  });

  it('refuses what breaks its schema, and a paramsSchema that is no JSON Schema', async () => {
    const registry = await filled();
    const wrong: Partial<ToolDefinitionInput>[] = [
      { paramsSchema: { type: 'nonsense' } },
      { outputSchema: { type: 7 } },
      { version: '1' },
      { name: 'two words' },
    ];
    for (const one of wrong) {
      await expect(registry.tools.register(tool({ id: 'new', ...one }))).rejects.toMatchObject(bad);
      await expect(registry.tools.update('add', one, { version: 1 })).rejects.toMatchObject(bad);
    }
    const others: Partial<AgentInput>[] = [{ id: '../x' }, { name: '' }, { state: 'gone' as never }];
    for (const one of others) {
      await expect(registry.agents.register(agent({ id: 'new', ...one }))).rejects.toMatchObject(bad);
    }
    expect((await registry.tools.get('add')).revision).toBe(1);
  });

  it('refuses what looks like the value of a secret, and repeats nothing of it', async () => {
    const registry = registryOf();
    const value = 'sk-SECRET-0123456789';
    const config = (headers: Record<string, string>) =>
      tool({ type: 'http', secrets: [{ id: 'token' }], config: { origin: 'https://api.example.com', headers } });
    const refusals = [
      registry.tools.register(config({ authorization: `Bearer ${value}` })),
      registry.tools.register(config({ 'X-Api-Key': value })),
      registry.dataSources.register(dataSource({ config: { database: { password: value } } })),
      registry.providers.register(provider({ baseUrl: `https://user:${value}@api.example/v1` })),
      registry.mcpServers.register(mcpServer({ url: `https://${value}@mcp.example.com/` })),
      registry.agents.register(agent({ modelSettings: { headers: { authorization: value } } })),
      registry.agents.register(agent({ modelSettings: { headers: { 'x-team': `Bearer ${value}` } } })),
      registry.agents.register(agent({ modelSettings: { providerOptions: { lab: { apiKey: value } } } })),
    ];
    for (const refusal of await Promise.allSettled(refusals)) {
      if (refusal.status === 'fulfilled') throw new Error('It was not refused');
      expect(refusal.reason).toMatchObject(bad);
      expect(JSON.stringify(refusal.reason) + String(refusal.reason)).not.toContain('SECRET');
    }
    await registry.tools.register(config({ authorization: 'Bearer {{secret:token}}' }));
  });

  it('changes what a patch names, takes away what it sets to null, and leaves the rest', async () => {
    const registry = await filled();
    await registry.agents.update('helper', { description: 'Sums', model: 'small', limits: { steps: 3 } }, {
      version: 1,
    });
    const changed = await registry.agents.update('helper', { model: null, limits: { toolMs: 5 } }, { version: 2 });
    expect(changed).toMatchObject({
      description: 'Sums',
      entryTools: ['add'],
      limits: { steps: 3, toolMs: 5 },
      revision: 3,
    });
    expect(changed).not.toHaveProperty('model');
    const replaced = await registry.agents.replace('helper', agent({ name: 'New' }), { version: 3 });
    expect(replaced).toMatchObject({ name: 'New', description: '', entryTools: [], revision: 4 });
    await expect(registry.agents.update('helper', { id: 'other' }, { version: 4 })).rejects.toMatchObject(bad);
  });

  it('writes only at the version that the caller has read, and returns the latest otherwise', async () => {
    const registry = await filled();
    await registry.agents.update('helper', { name: 'Second' }, { version: 1 });
    const late = registry.agents.update('helper', { name: 'Late' }, { version: 1 });
    await expect(late).rejects.toMatchObject({ ...stale, details: { revision: 2, latest: { name: 'Second' } } });
    await expect(registry.tools.remove('subtract', { version: 7 })).rejects.toMatchObject(stale);
    await expect(registry.put('agent', agent(), { ifRevision: null })).rejects.toMatchObject(stale);
    expect(await registry.put('agent', agent({ name: 'Third' }), { ifRevision: 2 })).toMatchObject({ revision: 3 });
  });

  it('never uses a revision again, and keeps the history of what was removed', async () => {
    const registry = registryOf();
    await registry.providers.register(provider());
    await registry.agents.register(agent({ revision: 40 }));
    await registry.agents.remove('helper'); // the second
    expect((await registry.agents.register(agent())).revision).toBe(3);
    const { items } = await registry.agents.history('helper');
    expect(items.map(({ action, revision }) => [action, revision])).toEqual([['register', 3], ['remove', 2], [
      'register',
      1,
    ]]);
    await registry.agents.remove('helper');
    await expect(registry.agents.get('helper')).rejects.toMatchObject({ code: 'not_found' });
    expect((await registry.agents.history('helper')).items[0]).toMatchObject({ action: 'remove', revision: 4 });
  });

  it('returns who changed what and when, page by page, the latest first', async () => {
    let time = 0;
    const registry = await filled({ now: () => time });
    for (let i = 1; i <= 7; i++) {
      time = i * 1000;
      await registry.agents.update('helper', { description: `Text ${i}` }, { version: i, principal: localPrincipal() });
    }
    const first = await registry.agents.history('helper', { limit: 3 });
    const { nextPageToken: pageToken } = first;
    const second = await registry.agents.history('helper', { limit: 3, pageToken });
    const third = await registry.agents.history('helper', { limit: 3, pageToken: second.nextPageToken });
    expect([first, second, third].map(({ items }) => items.map(({ revision }) => revision))).toEqual(
      [[8, 7, 6], [5, 4, 3], [2, 1]],
    );
    expect(third.nextPageToken).toBeUndefined();
    expect(first.items[0]).toEqual({
      revision: 8,
      at: '1970-01-01T00:00:07.000Z',
      by: { type: 'user', id: 'local', tenant: 'local' },
      action: 'update',
      changes: [{ path: '/description', from: 'Text 6', to: 'Text 7' }],
    });
    await expect(registry.tools.history('add', { limit: 3, pageToken })).rejects.toMatchObject({
      ...bad,
      details: { reason: 'invalid_page_token' },
    });
  });

  it('removes what is not there without leaving anything behind', async () => {
    const storage = memoryStorage();
    await expect(registryOf({ storage }).agents.remove('nobody')).rejects.toMatchObject({ code: 'not_found' });
    expect(await storage.list({ prefix: [], limit: 10 })).toEqual([]);
  });

  it('observes every write, those that are refused too, and shows no content', async () => {
    const { sink, events } = memorySink();
    const registry = await filled({
      sinks: [sink],
      authorize: (action) =>
        action === 'registry.remove' ? { decision: 'deny', reason: 'Not today' } : { decision: 'allow' },
    });
    const principal = localPrincipal();
    await registry.tools.update('subtract', { boundAgents: ['helper'] }, { version: 1, principal });
    await expect(registry.tools.remove('add', { principal })).rejects.toMatchObject({ code: 'forbidden' });
    await registry.agents.update('helper', { instructions: 'PRIVATE' }, { version: 1, principal }).catch(() =>
      undefined
    );
    await registry.agents.update('helper', { instructions: 'PRIVATE' }, { version: 2, principal });
    const seen = events.filter(({ actor }) => actor.id === 'local');
    expect(seen.map(({ action, target, status }) => [action, `${target.type} ${target.id}`, status])).toEqual([
      ['registry.bind', 'agent helper', 'ok'],
      ['registry.remove', 'tool add', 'denied'],
      ['registry.update', 'agent helper', 'error'],
      ['registry.update', 'agent helper', 'ok'],
    ]);
    expect(seen[0]?.actor).toEqual({ type: 'user', id: 'local' });
    expect(JSON.stringify(events)).not.toContain('PRIVATE');
  });

  it("denies when the check fails, and needs no permission for the composition's own writes", async () => {
    const registry = await filled({ authorize: () => Promise.reject(new Error('down')) });
    await registry.tools.disable('add');
    const principal = localPrincipal();
    await expect(registry.tools.enable('add', { principal })).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('rejects a write whose invalidation cannot be sent, although it is stored', async () => {
    const lost = new PinnaceError('unavailable', 'Cannot publish');
    const registry = registryOf({ onChange: () => Promise.reject(lost) });
    await expect(registry.providers.register(provider())).rejects.toBe(lost);
    expect(await registry.provider('main')).toMatchObject({ revision: 1 });
  });

  it('gives up when others never stop writing', async () => {
    const busy: Storage = {
      ...memoryStorage(),
      commit: async (changes) => ({ ok: false, conflicts: changes.map(({ key }) => key) }),
    };
    await expect(registryOf({ storage: busy }).providers.register(provider())).rejects.toMatchObject({
      code: 'unavailable',
      retryable: true,
    });
  });
});

describe('what is bound', () => {
  it('is the same on both sides, whichever side it was written on', async () => {
    const registry = await filled();
    await registry.agents.register(agent({ id: 'other' }));
    await registry.tools.update('subtract', { boundAgents: ['helper', 'other'] }, { version: 1 });
    expect((await registry.agents.get('helper')).entryTools).toEqual(['add', 'subtract']);
    expect((await registry.tools.get('subtract')).boundAgents).toEqual(['helper', 'other']);
    await registry.tools.update('subtract', { boundAgents: ['other'] }, { version: 1 });
    expect((await registry.agents.get('helper')).entryTools).toEqual(['add']);
    await registry.agents.update('other', { entryTools: ['add'] }, { version: 2 });
    expect((await registry.tools.get('subtract')).boundAgents).toEqual([]);
    expect((await registry.tools.get('add')).boundAgents).toEqual(['helper', 'other']);
    expect((await registry.tools.list()).items.map(({ boundAgents }) => boundAgents)).toEqual([
      ['helper', 'other'],
      [],
    ]);
  });

  it("counts up the revision of the agent, whose tools change, and not the tool's, which stays what it is", async () => {
    const registry = await filled();
    await registry.tools.update('subtract', { boundAgents: ['helper'] }, { version: 1 });
    expect([await registry.agent('helper'), await registry.tool('subtract')]).toMatchObject([{ revision: 2 }, {
      revision: 1,
    }]);
    expect((await registry.agents.history('helper')).items[0]).toMatchObject({ action: 'bind' });
  });

  it('may be a tool of an MCP server: any before the server is pinned, then those of the pin', async () => {
    const registry = await filled();
    const unknownTool = { ...bad, details: { reason: 'unknown_tool', issues: [{ path: 'entryTools.1' }] } };
    const naming = (id: string, ...entryTools: string[]) => registry.agents.register(agent({ id, entryTools }));
    await expect(naming('early', 'add', 'files__read')).rejects.toMatchObject(unknownTool);
    await registry.mcpServers.register(mcpServer());
    expect((await naming('unpinned', 'add', 'files__read')).entryTools).toEqual(['add', 'files__read']);
    for (const wrong of ['files__', 'file__read', '__read', 'files_read']) {
      await expect(naming('wrong', 'add', wrong)).rejects.toMatchObject(bad);
    }

    const definition = { name: 'read', inputSchema: { type: 'object' } };
    const pinned = { definition, fingerprint: '0'.repeat(64), status: 'valid' as const };
    const pin = { protocolVersion: '2025-11-25', serverInfo: { name: 's', version: '1' }, tools: [pinned] };
    await registry.mcpServers.update('files', { pinned: pin }, { version: 1 });
    expect((await naming('pinned', 'add', 'files__read')).entryTools).toEqual(['add', 'files__read']);
    await expect(naming('offers', 'add', 'files__write')).rejects.toMatchObject(unknownTool);
    // What it names already holds up no other change of the agent.
    await registry.mcpServers.update('files', { alias: 'papers' }, { version: 2 });
    expect(await registry.agents.update('pinned', { name: 'Reader' }, { version: 1 })).toMatchObject({
      name: 'Reader',
    });
  });

  it('may be a tool of an MCP server that the same document brings', async () => {
    const registry = await filled();
    const agents = [agent({ id: 'reader', entryTools: ['files__read'], mcp: { files: {} } })];
    const whole = { ...await registry.export(), agents, mcpServers: [mcpServer()] };
    await registry.import(whole);
    expect(await registry.agents.get('reader')).toMatchObject({ entryTools: ['files__read'] });
  });

  it('may be a tool that is given as code or comes with the runtime, and a pattern for whatever there is', async () => {
    const given = parse(ToolDefinition, tool({ id: 'notes_add', name: 'notes_add' }), { what: 'the tool' });
    const registry = await filled({ tools: [given] });
    const entryTools = ['notes_add', 'calculator', 'sub*', 'nothing_*'];
    await registry.agents.update('helper', { entryTools }, { version: 1 });
    const { availableTools } = await registry.agents.get('helper');
    expect(availableTools.map(({ id }) => id)).toEqual(['notes_add', 'subtract']);
    expect((await registry.tools.get('subtract')).boundAgents).toEqual([]); // a pattern is no binding
    expect((await registry.tools.get('notes_add')).boundAgents).toEqual(['helper']);
    expect((await registry.tools.list()).items.map(({ id }) => id)).toEqual(['add', 'notes_add', 'subtract']);
    await expect(registry.tools.disable('notes_add')).rejects.toMatchObject({ details: { reason: 'given_as_code' } });
  });

  it('must be unbound before it is removed', async () => {
    const registry = await filled();
    await registry.mcpServers.register(mcpServer());
    await registry.dataSources.register(dataSource());
    await registry.agents.update('helper', { mcp: { files: {} }, dataSources: ['manuals'] }, { version: 1 });
    const bound = { code: 'conflict', status: 409, details: { reason: 'still_bound', boundAgents: ['helper'] } };
    await expect(registry.tools.remove('add')).rejects.toMatchObject(bound);
    await expect(registry.providers.remove('main')).rejects.toMatchObject(bound);
    await expect(registry.mcpServers.remove('files')).rejects.toMatchObject(bound);
    await expect(registry.dataSources.remove('manuals')).rejects.toMatchObject(bound);
    await expect(registry.agents.remove('helper')).rejects.toMatchObject({ details: { boundTools: ['add'] } });
    await registry.agents.update('helper', { entryTools: [] }, { version: 2 });
    await registry.agents.remove('helper');
    await registry.tools.remove('add');
    await registry.providers.remove('main');
    await registry.mcpServers.remove('files');
    await registry.dataSources.remove('manuals');
    expect(await registry.listTools({ limit: 10 })).toMatchObject([{ id: 'subtract' }]);
  });

  it('may not be more in one write than fits into one commit, and says what to do', async () => {
    const registry = registryOf();
    await registry.providers.register(provider());
    for (const one of tools(120)) await registry.tools.register(one);
    const entryTools = tools(120).map(({ id }) => id);
    await expect(registry.agents.register(agent({ entryTools }))).rejects.toMatchObject({
      ...bad,
      details: { reason: 'too_many_bindings' },
    });
    await registry.agents.register(agent({ entryTools: entryTools.slice(0, 90) }));
    await registry.agents.update('helper', { entryTools: ['tool_*'] }, { version: 1 });
    expect(await registry.availableTools('helper')).toHaveLength(120);
  });
});

describe('an MCP server in the registry', () => {
  it('is valid only by its check: what its author writes makes it pending, unless nothing that was checked has changed', async () => {
    const registry = registryOf();
    expect(await registry.mcpServers.register(mcpServer({ status: 'valid' }))).toMatchObject({ status: 'pending' });
    await registry.put('mcpServer', mcpServer({ status: 'valid', validatedAt: '2026-01-01T00:00:00.000Z' }));
    expect(await registry.mcpServers.disable('files')).toMatchObject({ status: 'valid', state: 'disabled' });
    const moved = await registry.mcpServers.update('files', { url: 'https://evil.example.com/' }, { version: 3 });
    expect(moved).toMatchObject({ status: 'pending' });
    expect(moved).not.toHaveProperty('validatedAt');
  });
});

describe('a list of records', () => {
  it('returns every lasting record exactly once, whatever is written between its pages', async () => {
    const registry = createRegistry({ storage: memoryStorage() });
    await registry.providers.register(provider());
    const stays = Array.from({ length: 40 }, (_, i) => `stays_${String(i).padStart(2, '0')}`);
    const goes = Array.from({ length: 40 }, (_, i) => `stays_${String(i).padStart(2, '0')}_goes`);
    for (const id of [...stays, ...goes]) await registry.agents.register(agent({ id }));
    const seen: string[] = [];
    let pageToken: string | undefined;
    do {
      const page = await registry.agents.list({ limit: 7, pageToken });
      seen.push(...page.items.map(({ id }) => id));
      pageToken = page.nextPageToken;
      const gone = goes.pop();
      if (gone !== undefined) await registry.agents.remove(gone);
      await registry.agents.register(agent({ id: `new_${seen.length}` }));
      const changed = await registry.agents.get('stays_00');
      await registry.agents.update('stays_00', { name: `Name ${seen.length}` }, { version: changed.revision });
    } while (pageToken !== undefined);
    expect(seen.filter((id) => stays.includes(id))).toEqual(stays);
    expect(new Set(seen).size).toBe(seen.length);
  });
});
