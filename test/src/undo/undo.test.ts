import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { memorySink } from '../../../adapters/sinks/memory.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import {
  type Authorize,
  createPrincipal,
  createRuntime,
  type CreateRuntimeOptions,
  defineTool,
  localPrincipal,
  type PlanningRuntime,
  type Storage,
  type Tool,
  treeTools,
} from '../../../src/index.ts';
import { callsTools, says, scriptedModel } from '../../fixtures/model.ts';
import { decideAll, programRuntime, take } from '../../fixtures/programs.ts';
import { readAll, runRequest, testRuntime, userMessage } from '../../fixtures/runtime.ts';
import { randomFrom } from '../tree/fixtures.ts';
import { company, editor, version } from '../tree/tool-fixtures.ts';

const scopes = ['run:create', 'run:read', 'tool:approve'] as const;
const ada = createPrincipal({ tenant: 'acme', subject: 'ada', via: 'in-process', agents: '*', scopes: [...scopes] });

/** A shelf that remembers how often each undo ran. */
class Shelf {
  readonly things = new Set<string>();
  readonly undone: string[] = [];
  /** Undos of these names fail, or are lost after they acted. */
  readonly failing = new Set<string>();
  isDead = false;

  readonly tools: readonly Tool[] = [
    defineTool({
      id: 'put',
      title: 'Put on the shelf',
      description: 'Puts a thing on the shelf',
      input: v.strictObject({ name: v.string() }),
      execute: ({ name }) => {
        this.things.add(name);
        return { put: name };
      },
      undo: {
        describe: ({ name }) => ({ quote: name }),
        execute: ({ name }, { put }) => {
          if (this.isDead) throw new Error('This instance is gone');
          if (this.failing.has(name)) throw new Error('stuck');
          this.undone.push(put);
          this.things.delete(put);
        },
      },
    }),
    defineTool({ id: 'mail', description: 'Sends a mail', input: v.strictObject({}), execute: () => 'sent' }),
    defineTool({
      id: 'look',
      description: 'Looks',
      input: v.strictObject({}),
      annotations: { readOnlyHint: true },
      execute: () => [...this.things],
    }),
  ];
}

const put = (name: string) => ({ tool: 'put', input: { name } });
const callsOf = (...calls: readonly { readonly tool: string; readonly input: unknown }[]) =>
  callsTools(...calls.map((call, at) => ({ ...call, id: `c${at}-${JSON.stringify(call.input)}` })));

/** A run of ada: a step puts a and b, one looks, one puts c and sends a mail. */
const script = [
  callsOf(put('a'), put('b')),
  callsOf({ tool: 'look', input: {} }),
  callsOf(put('c'), { tool: 'mail', input: {} }),
  says('Done'),
];

function runtimeOf(shelf: Shelf, options: Partial<CreateRuntimeOptions> = {}, steps = script): PlanningRuntime {
  return testRuntime({ ...scriptedModel(...steps), tools: shelf.tools, ...options });
}

async function runOf(runtime: PlanningRuntime, store = true): Promise<string> {
  const { chat } = runRequest();
  const { runId, ended } = await runtime.start(runRequest({ chat: { ...chat, store } }), ada, {});
  await ended;
  return runId;
}

async function undo(runtime: PlanningRuntime, runId: string, toStep = 0) {
  const { digest } = await runtime.undo.preview(runId, { toStep }, ada);
  return await runtime.undo.run(runId, { toStep, digest }, ada);
}

const names = (calls: readonly { readonly quote?: string; readonly tool: string }[]): string[] =>
  calls.map(({ quote, tool }) => quote ?? tool);

describe('runtime.undo', () => {
  it('shows what a run did, newest first, and takes back the steps behind one', async () => {
    const shelf = new Shelf();
    const sink = memorySink();
    const runtime = runtimeOf(shelf, { sinks: [sink.sink] });
    const runId = await runOf(runtime);
    const preview = await runtime.undo.preview(runId, {}, ada);
    expect(preview.calls.map(({ step, tool, can, why, quote }) => [step, tool, can, why ?? quote])).toEqual([
      [3, 'mail', 'no', 'no_undo'],
      [3, 'put', 'yes', 'c'],
      [2, 'look', 'nothing', 'read_only'],
      [1, 'put', 'yes', 'b'],
      [1, 'put', 'yes', 'a'],
    ]);
    expect(preview.calls[1]).toMatchObject({ title: 'Put on the shelf' });
    expect([...shelf.things]).toEqual(['a', 'b', 'c']);
    const report = await undo(runtime, runId, 1);
    expect([names(report.takenBack), names(report.remains), report.failed]).toEqual([['c'], ['mail'], undefined]);
    expect([...shelf.things]).toEqual(['a', 'b']);
    const actions = sink.events.map(({ action, status }) => `${action} ${status}`);
    expect(actions).toEqual(expect.arrayContaining(['run.undo ok', 'tool.undo pending', 'tool.undo ok']));
    expect((await runtime.undo.preview(runId, { toStep: 1 }, ada)).calls[1]).toMatchObject({
      can: 'nothing',
      why: 'taken_back',
    });
    expect(names((await undo(runtime, runId)).takenBack)).toEqual(['b', 'a']);
    expect(shelf.undone).toEqual(['c', 'b', 'a']);
  });

  it('says so in the stored chat, whose next run reads it', async () => {
    const shelf = new Shelf();
    const runtime = runtimeOf(shelf);
    const report = await undo(runtime, await runOf(runtime), 1);
    expect(report).toMatchObject({ isStored: true });
    const { messages } = await runtime.chats.get('chat-1', ada);
    expect(messages.at(-1)).toMatchObject({
      role: 'assistant',
      parts: [{ text: 'Taken back: Put on the shelf: “c”. Not taken back: Call mail.' }, { type: 'data-undo' }],
    });
    await readAll(
      await runtime.run({
        agentId: 'helper',
        chat: {
          id: 'chat-1',
          store: true,
          messages: [{ id: 'm9', role: 'user', parts: [{ type: 'text', text: 'And now?' }] }],
        },
      }, ada),
    );
    expect((await runtime.chats.get('chat-1', ada)).messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'assistant',
      'user',
      'assistant',
    ]);
    expect(await undo(runtime, await runOf(runtimeOf(shelf), false)).catch((error: unknown) => error)).toMatchObject({
      code: 'not_found',
    });
  });

  it('stops at the first failure and names what remains; what has failed is not tried again', async () => {
    const shelf = new Shelf();
    shelf.failing.add('b');
    const runtime = runtimeOf(shelf);
    const runId = await runOf(runtime);
    const report = await undo(runtime, runId);
    expect([names(report.takenBack), names(report.remains)]).toEqual([['c'], ['mail', 'b', 'a']]);
    expect(report.failed).toMatchObject({ error: { code: 'internal', details: { reason: 'tool_failed' } } });
    shelf.failing.clear();
    const again = await undo(runtime, runId);
    expect([names(again.takenBack), names(again.remains)]).toEqual([['a'], ['mail', 'put']]);
    expect([...shelf.things]).toEqual(['b']);
  });

  it.each([
    ['another preview', { digest: 'other' }, 'conflict preview_changed'],
    ['the preview of other steps', { toStep: 2 }, 'conflict preview_changed'],
  ])('refuses %s', async (_, terms, expected) => {
    const shelf = new Shelf();
    const runtime = runtimeOf(shelf);
    const runId = await runOf(runtime);
    const { digest } = await runtime.undo.preview(runId, {}, ada);
    const error = await runtime.undo.run(runId, { digest, ...terms }, ada).catch((thrown: unknown) => thrown);
    expect(`${(error as { code: string }).code} ${(error as { details: { reason: string } }).details.reason}`).toBe(
      expected,
    );
    expect(shelf.undone).toEqual([]);
  });

  it.each(['run.undo', 'tool.undo'])('asks authorize for %s, and leaves no record of a refusal', async (action) => {
    const shelf = new Shelf();
    let isDenied = true;
    const asked: unknown[] = [];
    const authorize: Authorize = (wished, _principal, resource) => {
      asked.push([wished, resource.id]);
      return wished === action && isDenied ? { decision: 'deny', reason: 'no' } : { decision: 'allow' };
    };
    const runtime = runtimeOf(shelf, { authorize });
    const runId = await runOf(runtime);
    const refused: unknown = await undo(runtime, runId).catch((error: unknown) => ({ failed: { error } }));
    expect(refused).toMatchObject({ failed: { error: { code: 'forbidden' } } });
    expect(asked).toContainEqual([action, action === 'run.undo' ? runId : 'put']);
    isDenied = false;
    expect(names((await undo(runtime, runId)).takenBack)).toEqual(['c', 'b', 'a']);
  });

  it('belongs to the owner of the run, and to administrators', async () => {
    const shelf = new Shelf();
    const runtime = runtimeOf(shelf);
    const runId = await runOf(runtime);
    const who = (subject: string, more: readonly 'admin'[] = []) =>
      createPrincipal({ tenant: 'acme', subject, via: 'in-process', agents: '*', scopes: [...scopes, ...more] });
    await expect(runtime.undo.preview(runId, {}, who('bo'))).rejects.toMatchObject({ code: 'not_found' });
    expect((await runtime.undo.preview(runId, {}, who('root', ['admin']))).calls).toHaveLength(5);
  });

  it('maps calls of a tree to its own undo', async () => {
    const tree = company();
    const tools = treeTools(tree, { agentId: 'helper', role: 'editor' });
    const versionToken = await version(editor(tree, { agentId: 'helper' }));
    const rename = {
      tool: 'update_payload_property',
      input: { nodeId: 'it', propertyName: 'name', newValue: 'Tech', versionToken },
    };
    const runtime = testRuntime({ ...scriptedModel(callsOf(rename), says('ok')), tools: [tools] });
    const runId = await runOf(runtime);
    expect(tree.get('it')?.payload).toMatchObject({ name: 'Tech' });
    expect((await undo(runtime, runId)).takenBack).toHaveLength(1);
    expect(tree.get('it')?.payload).toMatchObject({ name: 'IT' });
  });

  it('reaches the calls of a program', async () => {
    const shelf = new Shelf();
    const code = "await tools.put({ name: 'a' }); await tools.look({}); await tools.put({ name: 'b' }); return 1;";
    const { runtime } = programRuntime(code, { tools: shelf.tools });
    const report = await undo(runtime, await runOf(runtime));
    expect(names(report.takenBack)).toEqual(['b', 'a']);
    expect([...shelf.things, ...report.remains]).toEqual([]);
  });

  it('reaches the calls of its plan', async () => {
    const shelf = new Shelf();
    const runtime = runtimeOf(shelf, {}, [callsOf(put('a'), put('b')), says('Done')]);
    const { runId, ended } = await runtime.start(runRequest({ planner: {} }), ada, {});
    await ended;
    expect([...shelf.things].toSorted()).toEqual(['a', 'b']);
    expect(names((await undo(runtime, runId)).takenBack).toSorted()).toEqual(['a', 'b']);
    expect([...shelf.things]).toEqual([]);
  });

  it('reaches the calls of an agent that was called as a tool, once from whichever run', async () => {
    const shelf = new Shelf();
    const helper = scriptedModel(callsOf({ tool: 'ask_clerk', input: { task: 'Put a' } }), says('Done'));
    const clerk = scriptedModel(callsOf(put('a'), put('b')), callsOf({ tool: 'look', input: {} }), says('Put'));
    const catalog = staticCatalog({
      agents: ['helper', 'clerk'].map((id) => ({
        id,
        name: id,
        providerId: id,
        entryTools: id === 'helper' ? ['ask_clerk'] : ['put', 'look'],
      })),
      providers: ['helper', 'clerk'].map((id) => ({ id, kind: 'custom' as const })),
      tools: [{
        id: 'ask_clerk',
        name: 'ask_clerk',
        type: 'agent',
        description: 'Asks',
        paramsSchema: { type: 'object' },
        config: { agentId: 'clerk' },
      }],
    });
    const models = { model: ({ id }: { id: string }) => id === 'clerk' ? clerk.model : helper.model };
    const runtime = createRuntime({ catalog, models, tools: shelf.tools, storage: memoryStorage() });
    const runId = await runOf(runtime);
    const { calls } = await runtime.undo.preview(runId, {}, ada);
    expect(calls.map(({ can, why, quote }) => `${can} ${quote ?? why}`)).toEqual([
      'nothing read_only',
      'yes b',
      'yes a',
      'nothing inner_calls',
    ]);
    expect(names((await undo(runtime, runId)).takenBack)).toEqual(['b', 'a']);
    expect([...shelf.things]).toEqual([]);
  });

  it('finds the input of an approved call in the run that asked for it', async () => {
    const shelf = new Shelf();
    const tools = shelf.tools.map((tool) => ({
      ...tool,
      definition: { ...tool.definition, approval: 'mutating' as const },
    }));
    const runtime = runtimeOf(shelf, { tools }, [callsOf(put('a')), says('Done')]);
    const asked = await take(runtime);
    const decided = await decideAll(runtime, asked);
    const { runId } = await take(runtime, [userMessage('Go'), decided]);
    const me = localPrincipal();
    expect((await runtime.undo.preview(asked.runId, {}, me)).calls).toMatchObject([{
      can: 'nothing',
      why: 'not_made',
    }]);
    const { digest, calls } = await runtime.undo.preview(runId, {}, me);
    expect(calls).toMatchObject([{ can: 'yes', quote: 'a', step: 1 }]);
    expect(names((await runtime.undo.run(runId, { digest }, me)).takenBack)).toEqual(['a']);
  });

  it('takes nothing back whose values have lost a secret, or whose tool is gone', async () => {
    const shelf = new Shelf();
    const storage = memoryStorage();
    const runtime = runtimeOf(shelf, { storage }, [callsOf(put('[secret crm]')), says('Done')]);
    const runId = await runOf(runtime);
    expect((await runtime.undo.preview(runId, {}, ada)).calls).toMatchObject([{ can: 'no', why: 'redacted' }]);
    const without = runtimeOf(shelf, { storage, tools: [] });
    expect((await without.undo.preview(runId, {}, ada)).calls).toMatchObject([{ can: 'no', why: 'no_tool' }]);
  });
});

/** A storage of an instance that is killed at its n-th commit: before it is written, or after. */
function dyingStorage(
  storage: Storage,
  shelf: Shelf,
  { at, isAfter }: { readonly at: number; readonly isAfter: boolean },
) {
  let commits = 0;
  const gone = (): Promise<never> => {
    shelf.isDead = true;
    return Promise.reject(new Error('This instance is gone'));
  };
  const dying: Storage = {
    ...storage,
    get: (key) => shelf.isDead ? gone() : storage.get(key),
    list: (options) => shelf.isDead ? gone() : storage.list(options),
    commit: async (changes) => {
      if (shelf.isDead) return await gone();
      const isLast = commits++ === at;
      if (isLast && !isAfter) return await gone();
      const result = await storage.commit(changes);
      return isLast ? await gone() : result;
    },
  };
  return { storage: dying, commits: () => commits };
}

describe('an undo whose instance is lost', () => {
  it('is never repeated, at whatever commit, and what remains is named', async () => {
    let kills = 0;
    for (const isAfter of [false, true]) {
      for (let at = 0;; at++) {
        const shelf = new Shelf();
        const storage = memoryStorage();
        const first = runtimeOf(shelf, { storage });
        const runId = await runOf(first);
        const dying = dyingStorage(storage, shelf, { at, isAfter });
        const second = runtimeOf(shelf, { storage: dying.storage, limits: { storageGraceMs: 0 } });
        await undo(second, runId).catch(() => undefined);
        if (!shelf.isDead) break;
        kills++;
        shelf.isDead = false;
        const third = runtimeOf(shelf, { storage });
        const report = await undo(third, runId);
        const left = names(report.remains).filter((name) => name !== 'mail');
        expect(new Set(shelf.undone).size, `kill at ${at}`).toBe(shelf.undone.length);
        // What stands is named. What is named and does not stand has an unknown undo: it ran, and its end was not written.
        expect(report.remains.length, `kill at ${at}`).toBeGreaterThanOrEqual(shelf.things.size);
        const unknown = report.remains.filter(({ why }) => why === 'undo_unknown').length;
        expect(left.length - shelf.things.size, `kill at ${at}`).toBeLessThanOrEqual(unknown);
        expect(report.failed).toBeUndefined();
      }
    }
    expect(kills).toBeGreaterThan(10);
  });

  it('and another at the same time take back each call once', async () => {
    const random = randomFrom(7);
    for (let round = 0; round < 20; round++) {
      const shelf = new Shelf();
      const storage = memoryStorage();
      const all = 'abcdefgh'.split('').filter(() => random() < 0.7);
      const steps = [...all.map((name) => callsOf(put(name))), says('Done')];
      const runtimes = [runtimeOf(shelf, { storage }, steps), runtimeOf(shelf, { storage }, steps)];
      const runId = await runOf(runtimes[0]!);
      const toStep = Math.floor(random() * all.length);
      const reports = await Promise.all(runtimes.map((runtime) => undo(runtime, runId, toStep).catch(() => undefined)));
      expect(new Set(shelf.undone).size).toBe(shelf.undone.length);
      const last = await undo(runtimes[0]!, runId, toStep);
      expect([...shelf.things], JSON.stringify(reports)).toEqual(all.slice(0, toStep));
      expect(names(last.remains)).toEqual([]);
    }
  });
});
