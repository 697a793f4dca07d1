import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createToolIndex } from '../../../src/index.ts';
import { type Rerank } from '../../../src/discovery/index.ts';
import { errorOf, outputOf, principalOf, testDiscovery } from '../../fixtures/discovery.ts';
import { goEntTools } from '../../fixtures/tools/go-ent-tools.ts';

const index = createToolIndex(goEntTools);

const lastFirst: Rerank = (_query, hits) =>
  Promise.resolve([{ name: 'invented', score: 9 }, { name: hits.at(-1)!.name, score: 2 }]);
const failing: Rerank = () => Promise.reject(new Error('no model'));

function refuse(): never {
  throw new Error('secret');
}

describe('discoveryTools', () => {
  it('answers what is no input with what is wrong, and a name of none of the four with an error', async () => {
    const { discovery } = testDiscovery();
    for (
      const [name, input] of [
        ['tool_find', {}],
        ['tool_find', { query: 'x', limit: 0 }],
        ['tool_load', { names: [] }],
        ['tool_load', { names: 'spec_list' }],
        ['tool_describe', null],
        ['tool_active', { all: true }],
      ] as const
    ) expect(await errorOf(discovery, name, input)).toMatchObject({ code: 'invalid_argument' });
    expect(await errorOf(discovery, '__proto__', {})).toMatchObject({ code: 'not_found' });
  });

  it('does nothing when its signal has aborted', async () => {
    const { discovery, active } = testDiscovery();
    const outcome = await discovery.call('tool_load', { names: ['spec_list'] }, { signal: AbortSignal.abort() });
    expect(outcome).toMatchObject({ ok: false, error: { code: 'cancelled' } });
    expect(active.size).toBe(0);
  });

  it('reports what a filter of the host throws without its text', async () => {
    const error = await errorOf(testDiscovery({ isAllowed: refuse }).discovery, 'tool_find', { query: 'spec' });
    expect(error).toMatchObject({ code: 'internal', message: 'An internal error occurred' });
  });
});

describe('tool_find', () => {
  it('hints at better words when there are none, none fit, or little fits', async () => {
    const { discovery } = testDiscovery();
    for (const query of ['', '?!']) {
      const output = await outputOf(discovery, 'tool_find', { query });
      expect(output).toEqual({ tools: [], fit: 0, message: expect.stringContaining('no words') });
    }
    const none = await outputOf(discovery, 'tool_find', { query: 'xylophone' });
    expect(none).toMatchObject({ tools: [], message: expect.stringContaining('other words') });
    const little = await outputOf(discovery, 'tool_find', {
      query: 'tune my old wooden xylophone for the task of playing jazz',
    });
    expect(little).toMatchObject({ message: expect.stringContaining('Probably none') });
    expect(await outputOf(discovery, 'tool_find', { query: 'validate specification' })).not.toHaveProperty('message');
  });

  it('says which words of a short query no tool says, beside what says the rest', async () => {
    const { discovery } = testDiscovery();
    for (const query of ['validate xylophone', 'xylophone validate specification', 'specification of zebras']) {
      const output = await outputOf(discovery, 'tool_find', { query });
      const { tools, message } = output as { readonly tools: readonly unknown[]; readonly message?: string };
      expect(tools.length).toBeGreaterThan(0);
      expect(message).toMatch(/^No tool says "(?:xylophone|zebras)":/);
    }
  });

  it('returns one line of a description', async () => {
    const long = createToolIndex([
      { name: 'a', description: 'Sends mail. Then does more.' },
      { name: 'b', description: `Mail ${'and '.repeat(200)}` },
      { name: 'c', description: 'Mail\nof many lines' },
    ]);
    const { tools } = await outputOf(testDiscovery({ index: long }).discovery, 'tool_find', { query: 'mail' });
    const lines = Object.fromEntries(
      (tools as { name: string; description: string }[]).map((t) => [t.name, t.description]),
    );
    expect(lines).toMatchObject({ a: 'Sends mail.', c: 'Mail' });
    expect(lines.b!.length).toBeLessThanOrEqual(160);
  });

  it('lets a re-ranker change the order, and nothing else', async () => {
    const plain = (await outputOf(testDiscovery().discovery, 'tool_find', { query: 'task', limit: 50 })).tools as {
      name: string;
    }[];
    const output = await outputOf(testDiscovery({ rerank: lastFirst }).discovery, 'tool_find', {
      query: 'task',
      limit: 3,
    });
    const expected = [plain.at(-1)!.name, plain[0]!.name, plain[1]!.name];
    expect((output.tools as { name: string }[]).map(({ name }) => name)).toEqual(expected);
  });

  it('keeps its order when the re-ranker fails', async () => {
    const output = await outputOf(testDiscovery({ rerank: failing }).discovery, 'tool_find', { query: 'task' });
    expect(output).toEqual(await outputOf(testDiscovery().discovery, 'tool_find', { query: 'task' }));
  });
});

describe('a discovery tool', () => {
  it('says of itself that it is always active when a model loads or describes it', async () => {
    const { discovery } = testDiscovery();
    for (
      const [tool, input] of [['tool_load', { names: ['tool_find'] }], ['tool_describe', {
        name: 'tool_load',
      }]] as const
    ) {
      const error = await errorOf(discovery, tool, input);
      expect(error).toMatchObject({ details: { reason: 'always_active' } });
      expect(error.message).toContain('call it directly');
    }
  });
});

describe('a masked tool', () => {
  it('can be neither found, described, loaded, nor named by an old name', async () => {
    const { discovery, active } = testDiscovery({
      isAllowed: (name) => name !== 'registry_list',
      active: new Set(['registry_list', 'loop_get']),
    });
    const { tools } = await outputOf(discovery, 'tool_find', { query: 'registry list tasks', limit: 50 });
    expect((tools as { name: string }[]).map(({ name }) => name)).not.toContain('registry_list');
    const errors = [
      await errorOf(discovery, 'tool_describe', { name: 'registry_list' }),
      await errorOf(discovery, 'tool_load', { names: ['loop_set', 'registry_list'] }),
      await errorOf(discovery, 'tool_load', { names: ['go_ent_registry_list'] }),
      discovery.notActive('registry_list'),
      discovery.notActive('go_ent_registry_list'),
    ];
    for (const { code, details } of errors) {
      expect(code).toBe('not_found');
      expect(details).toMatchObject({
        reason: 'unknown_tool',
        suggestions: expect.not.arrayContaining(['registry_list']),
      });
    }
    expect(await outputOf(discovery, 'tool_active', {})).toMatchObject({ count: 1, tools: [{ name: 'loop_get' }] });
    expect(discovery.activeNames()).toEqual(['loop_get']);
    expect(active.has('loop_set')).toBe(false);
  });

  it('is no longer active in the next step when it is masked in the middle of a run', async () => {
    const masked = new Set<string>();
    const { discovery } = testDiscovery({ isAllowed: (name) => !masked.has(name) });
    await outputOf(discovery, 'tool_load', { names: ['loop_get', 'loop_set'] });
    masked.add('loop_get');
    expect(discovery.activeNames()).toEqual(['loop_set']);
  });
});

describe('the loaded set', () => {
  it('is restored by the first call', async () => {
    const storage = memoryStorage();
    await outputOf(testDiscovery({ storage }).discovery, 'tool_load', { names: ['loop_get'] });
    expect(await outputOf(testDiscovery({ storage }).discovery, 'tool_active', {})).toMatchObject({ count: 1 });
  });

  it('is filtered by what is allowed and known today, and comes back when it is allowed again', async () => {
    const storage = memoryStorage();
    await outputOf(testDiscovery({ storage }).discovery, 'tool_load', { names: ['loop_get', 'loop_set', 'spec_list'] });
    const smaller = createToolIndex(goEntTools.filter(({ name }) => name !== 'spec_list'));
    const today = testDiscovery({ storage, index: smaller, isAllowed: (name) => name !== 'loop_set' });
    await today.discovery.restore();
    expect([...today.active]).toEqual(['loop_get']);
    const later = testDiscovery({ storage });
    await later.discovery.restore();
    expect(later.active.size).toBe(3);
  });

  it('belongs to one tenant, subject and chat', async () => {
    const storage = memoryStorage();
    const own = { storage, principal: principalOf('t', 's'), chatId: 'c' };
    const { discovery } = testDiscovery(own);
    await outputOf(discovery, 'tool_load', { names: ['loop_get'] });
    const handle = discovery.handle()!;
    const others = [
      { ...own, principal: principalOf('u', 's') },
      { ...own, principal: principalOf('t', 'r') },
      { ...own, chatId: 'd' },
    ];
    for (const other of others) {
      expect(await outputOf(testDiscovery(other).discovery, 'tool_active', {})).toMatchObject({ count: 0 });
      const error = await errorOf(testDiscovery({ ...other, handle }).discovery, 'tool_active', {});
      expect(error).toMatchObject({ code: 'not_found', details: { reason: 'unknown_toolset' } });
    }
    expect(await outputOf(testDiscovery({ ...own, handle }).discovery, 'tool_active', {})).toMatchObject({ count: 1 });
  });

  it('travels by its handle where there is no chat, until it expires', async () => {
    let now = 0;
    const options = { storage: memoryStorage({ now: () => now }), ttlMs: 1000, chatId: undefined };
    const first = await outputOf(testDiscovery(options).discovery, 'tool_load', { names: ['loop_get'] });
    const handle = first.toolset as string;
    expect(handle).toMatch(/^[0-9a-f]{32}$/); // 128 bits
    const second = testDiscovery({ ...options, handle }).discovery;
    expect(await outputOf(second, 'tool_load', { names: ['loop_set'] })).toMatchObject({ active: 2, toolset: handle });
    const stranger = testDiscovery({ ...options, handle, principal: principalOf('other', 'local') }).discovery;
    expect(await errorOf(stranger, 'tool_active', {})).toMatchObject({ code: 'not_found' });
    now = 1001;
    const late = testDiscovery({ ...options, handle }).discovery;
    expect(await errorOf(late, 'tool_load', { names: ['loop_get'] })).toMatchObject({
      details: { reason: 'unknown_toolset' },
    });
  });

  it('keeps what two instances load at the same time', async () => {
    const storage = memoryStorage();
    const instances = ['loop_get', 'loop_set', 'spec_list'].map((name) => ({ name, ...testDiscovery({ storage }) }));
    await Promise.all(instances.map(({ discovery, name }) => outputOf(discovery, 'tool_load', { names: [name] })));
    const { discovery, active } = testDiscovery({ storage });
    await discovery.restore();
    expect([...active].toSorted()).toEqual(['loop_get', 'loop_set', 'spec_list']);
    expect(new Set(instances.map((instance) => instance.discovery.handle())).size).toBe(1);
  });

  it('holds no more tools than may be active', async () => {
    const { discovery, active } = testDiscovery({ mostActive: 2 });
    await outputOf(discovery, 'tool_load', { names: ['loop_get'] });
    const error = await errorOf(discovery, 'tool_load', { names: ['loop_set', 'spec_list'] });
    expect(error).toMatchObject({ code: 'budget_exceeded', details: { reason: 'too_many_active_tools' } });
    expect([...active]).toEqual(['loop_get']);
  });
});

describe('notActive', () => {
  it('repeats nothing hostile of a name', () => {
    const { message } = testDiscovery({ index }).discovery.notActive(`a"\n\u202E${'x'.repeat(1000)}`);
    expect(message).not.toMatch(/[\n\u202E]|x{101}/);
  });
});
