import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createRegistry, PinnaceError, type Registry, type Storage } from '../../../src/index.ts';
import { agent, provider, tool } from '../../fixtures/records.ts';
import { createOracle, type Op, type Oracle } from './oracle.ts';

const agentIds = fc.constantFrom('ada', 'bob', 'cy', 'dee');
const toolIds = fc.constantFrom('add', 'bind', 'call', 'dial', 'echo');
const toolLists = fc.uniqueArray(toolIds, { maxLength: 4 });
const agentLists = fc.uniqueArray(agentIds, { maxLength: 4 });
const anyOp: fc.Arbitrary<Op> = fc.oneof(
  fc.record({
    type: fc.constantFrom('register-agent' as const, 'set-tools' as const),
    agent: agentIds,
    tools: toolLists,
  }),
  fc.record({
    type: fc.constantFrom('register-tool' as const, 'set-agents' as const),
    tool: toolIds,
    agents: agentLists,
  }),
  fc.oneof(
    fc.record({ kind: fc.constant('agent' as const), id: agentIds }),
    fc.record({ kind: fc.constant('tool' as const), id: toolIds }),
  ).chain((record) =>
    fc.constantFrom('disable' as const, 'enable' as const, 'remove' as const).map((type) => ({ type, ...record }))
  ),
);

/** Does it at the given version, and gives `ok` or the code of the error. */
async function apply({ agents, tools }: Registry, op: Op, version: number): Promise<string> {
  const work = (): Promise<unknown> => {
    switch (op.type) {
      case 'register-agent':
        return agents.register(agent({ id: op.agent, entryTools: [...op.tools] }));
      case 'set-tools':
        return agents.update(op.agent, { entryTools: op.tools }, { version });
      case 'register-tool':
        return tools.register(tool({ id: op.tool, name: op.tool, boundAgents: [...op.agents] }));
      case 'set-agents':
        return tools.update(op.tool, { boundAgents: op.agents }, { version });
      case 'disable':
      case 'enable':
      case 'remove':
        return (op.kind === 'agent' ? agents : tools)[op.type](op.id);
      default:
        return op satisfies never;
    }
  };
  try {
    await work();
    return 'ok';
  } catch (error) {
    if (error instanceof PinnaceError) return error.code;
    throw error;
  }
}

function versionOf(op: Op, oracle: Oracle): number {
  if ('agent' in op) return oracle.revision('agent', op.agent);
  return 'tool' in op ? oracle.revision('tool', op.tool) : 0;
}

/** Everything as the registry shows it, in the oracle's form. */
async function stateOf({ agents, tools }: Registry): Promise<Pick<Record<string, unknown>, 'agents' | 'tools'>> {
  const [{ items: someAgents }, { items: someTools }] = [await agents.list(), await tools.list()];
  return {
    agents: Object.fromEntries(
      someAgents.map(({ id, revision, state, entryTools }) => [id, { revision, state, tools: entryTools }]),
    ),
    tools: Object.fromEntries(
      someTools.map(({ id, revision, state, boundAgents }) => [id, { revision, state, agents: boundAgents }]),
    ),
  };
}

/** What must be alike, whatever was written by whomever: both sides of the bindings, and history with what it leads to. */
async function sidesOf(registry: Registry): Promise<readonly (readonly [unknown, unknown])[]> {
  const { items: someAgents } = await registry.agents.list();
  const { items: someTools } = await registry.tools.list();
  const fromAgents = someAgents.flatMap(({ id, entryTools }) => entryTools.map((toolId) => `${id} ${toolId}`));
  const fromTools = someTools.flatMap(({ id, boundAgents = [] }) => boundAgents.map((agentId) => `${agentId} ${id}`));
  const histories = await Promise.all(someAgents.map(async ({ id, revision }) => {
    const { items } = await registry.agents.history(id, { limit: 200 });
    return [items.map((entry) => entry.revision), Array.from({ length: revision }, (_, i) => revision - i)] as const;
  }));
  return [[fromTools.toSorted(), fromAgents.toSorted()], ...histories];
}

/** Lets other writers in before each commit. */
function slow(storage: Storage): Storage {
  return {
    ...storage,
    async commit(changes) {
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      return await storage.commit(changes);
    },
  };
}

describe('a registry that several write', () => {
  it('does what the oracle does, whichever instance each write goes through', async () => {
    const steps = fc.array(fc.tuple(anyOp, fc.nat({ max: 2 })), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const storage = memoryStorage();
        const instances = [0, 1, 2].map(() => createRegistry({ storage }));
        await createRegistry({ storage }).providers.register(provider());
        const oracle = createOracle();
        for (const [one, at] of all) {
          const version = versionOf(one, oracle);
          const registry = instances[at] ?? createRegistry({ storage });
          expect(await apply(registry, one, version)).toBe(oracle.apply(one));
          expect(await stateOf(registry)).toEqual({ agents: oracle.agents(), tools: oracle.tools() });
        }
      }),
      { numRuns: 60 },
    );
  });

  it('keeps both sides of every binding alike when all write at once', async () => {
    const steps = fc.array(fc.tuple(anyOp, fc.nat({ max: 2 }), fc.integer({ min: 1, max: 4 })), {
      minLength: 10,
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const storage = slow(memoryStorage());
        const instances = [0, 1, 2].map(() => createRegistry({ storage }));
        const registry = createRegistry({ storage });
        await registry.providers.register(provider());
        for (const id of ['add', 'bind', 'call']) await registry.tools.register(tool({ id, name: id }));
        await Promise.all(all.map(([one, at, version]) => apply(instances[at] ?? registry, one, version)));
        for (const [one, other] of await sidesOf(registry)) expect(one).toEqual(other);
      }),
      { numRuns: 25 },
    );
  });

  it('lets one of many win who write at one version, and all who do not care, one after the other', async () => {
    const storage = slow(memoryStorage());
    const instances = Array.from({ length: 8 }, () => createRegistry({ storage }));
    await instances[0]?.providers.register(provider());
    const races = await Promise.allSettled(instances.map(({ agents }) => agents.register(agent())));
    expect(races.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const renamed = await Promise.allSettled(
      instances.map(({ agents }, i) => agents.update('helper', { name: `Name ${i}` }, { version: 1 })),
    );
    expect(renamed.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const written = await Promise.all(
      instances.map((registry, i) => registry.put('agent', agent({ name: `Put ${i}` }))),
    );
    expect(written.map(({ revision }) => revision).toSorted((a, b) => a - b)).toEqual([3, 4, 5, 6, 7, 8, 9, 10]);
  });
});
