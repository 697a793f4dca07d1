import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { memorySink } from '../../../adapters/sinks/memory.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import {
  type Authorize,
  createPrincipal,
  createRules,
  createRuntime,
  type CreateRuntimeOptions,
  defineTool,
  localPrincipal,
  type PlanningRuntime,
  type Storage,
  type Tool,
  treeTools,
} from '../../../src/index.ts';
import type { InboxResult } from '../../../src/runtime/index.ts';
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
    expect([names(again.takenBack), names(again.remains)]).toEqual([['a'], ['mail', 'b']]);
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

const approver = (subject: string) =>
  createPrincipal({ tenant: 'acme', subject, via: 'in-process', agents: '*', scopes: ['tool:approve'] });
const [bo, cy] = [approver('bo'), approver('cy')];

/** Another person approves each undo. */
const asksBo = createRules([{ effect: 'ask', actions: ['run.undo'], approvers: ['subject:bo'], fourEyes: true }], {
  otherwise: 'allow',
});

/** Decides on all undos that wait for the person. */
async function decide(runtime: PlanningRuntime, approved = true, who = bo) {
  const { items } = await runtime.inbox.list(who, { kind: 'undo' });
  return await runtime.inbox.decide(items.map(({ id, seen }) => ({ id, seen, approved })), who);
}

const outcome = ([result]: readonly InboxResult[]): string =>
  result?.state === 'refused' ? `${result.error.code} ${String(result.error.details?.['reason'])}` : 'stored';

describe('an undo that another person must approve', () => {
  it('waits in the inbox, where the person sees what is taken back and what remains', async () => {
    const shelf = new Shelf();
    const sink = memorySink();
    const runtime = runtimeOf(shelf, { authorize: asksBo, sinks: [sink.sink] });
    const runId = await runOf(runtime);
    const asked = await undo(runtime, runId, 1);
    expect([names(asked.takenBack), names(asked.remains), asked.isStored]).toEqual([[], ['mail', 'c'], false]);
    expect((await undo(runtime, runId, 1)).approvalId).toBe(asked.approvalId);
    const [item] = (await runtime.inbox.list(bo)).items;
    expect(item).toMatchObject({
      id: asked.approvalId,
      kind: 'undo',
      title: 'Take back 1 call',
      quote: 'Put on the shelf: “c”',
      subject: 'ada',
      goesOn: true,
    });
    const { facts } = await runtime.inbox.get(item!.id, bo);
    expect(facts).toMatchObject({ calls: [{ quote: 'c' }], remains: [{ tool: 'mail', why: 'no_undo' }] });
    expect(outcome(await decide(runtime, true, ada))).toBe('forbidden own_request');
    expect(
      await runtime.inbox.decide(
        [{ ...item!, approved: true, input: {} }].map(({ id, seen, ...more }) => (
          { id, seen, approved: more.approved, input: more.input }
        )),
        bo,
      ),
    ).toMatchObject([{ error: { details: { reason: 'not_editable' } } }]);
    const [result] = await decide(runtime);
    expect(result).toMatchObject({ state: 'stored', undo: { takenBack: [{ quote: 'c' }], isStored: true } });
    expect([...shelf.things]).toEqual(['a', 'b']);
    const { messages } = await runtime.chats.get('chat-1', ada);
    expect(messages.at(-1)?.parts[0]).toMatchObject({
      text: 'Taken back: Put on the shelf: “c”. Not taken back: Call mail.',
    });
    const actions = sink.events.map(({ action, status, actor }) => `${action} ${status} ${actor.id}`);
    expect(actions.filter((one) => /undo|interruption|approval/.test(one))).toEqual([
      'run.undo denied ada',
      'interruption.request ok ada',
      'run.undo denied ada',
      'approval.decide denied ada',
      'approval.decide ok bo',
      'tool.undo pending ada',
      'tool.undo ok ada',
      'run.undo ok ada',
    ]);
  });

  it('is not carried out where it is denied, or no longer what was asked for', async () => {
    const shelf = new Shelf();
    let isDenied = false;
    const authorize: Authorize = (action, ...given) =>
      isDenied && action === 'run.undo' ? { decision: 'deny', reason: 'has left' } : asksBo(action, ...given);
    const runtime = runtimeOf(shelf, { authorize });
    const runId = await runOf(runtime);
    await undo(runtime, runId);
    expect(outcome(await decide(runtime, false))).toBe('stored');
    expect([(await runtime.inbox.list(bo)).waiting, shelf.undone.length]).toEqual([0, 0]);
    const before = await undo(runtime, runId);
    await undo(runtime, runId, 1);
    const { items } = await runtime.inbox.list(bo);
    expect(items).toHaveLength(2);
    const late = items.filter(({ id }) => id !== before.approvalId).map(({ id, seen }) => ({
      id,
      seen,
      approved: true,
    }));
    expect(outcome(await runtime.inbox.decide(late, bo))).toBe('stored');
    expect(outcome(await decide(runtime))).toBe('conflict preview_changed');
    expect([(await runtime.inbox.list(bo)).waiting, shelf.undone]).toEqual([0, ['c']]);
    await undo(runtime, runId);
    isDenied = true;
    expect(await decide(runtime)).toEqual([{ id: expect.any(String) as string, state: 'stored' }]);
    expect(shelf.undone).toEqual(['c']);
  });

  it('takes back what nobody must approve; the rest waits for each who is named', async () => {
    const shelf = new Shelf();
    const authorize: Authorize = (action, _, { id }, { input }) => {
      const { name } = (input ?? {}) as { readonly name?: string };
      if (action !== 'tool.undo' || id !== 'put' || name === 'c') return { decision: 'allow' };
      return { decision: 'ask', reason: 'ask first', approvers: [`subject:${name === 'b' ? 'bo' : 'cy'}`] };
    };
    const runtime = runtimeOf(shelf, { authorize });
    const runId = await runOf(runtime);
    const report = await undo(runtime, runId);
    expect([names(report.takenBack), names(report.remains)]).toEqual([['c'], ['mail', 'b', 'a']]);
    expect(report.failed?.error.code).toBe('approval_required');
    const [first] = await decide(runtime);
    expect(first).toMatchObject({ undo: { takenBack: [{ quote: 'b' }], approvalId: expect.any(String) as string } });
    expect(await decide(runtime, true, cy)).toMatchObject([{ undo: { takenBack: [{ quote: 'a' }] } }]);
    expect(shelf.undone).toEqual(['c', 'b', 'a']);
  });

  it('is done by the next sweep where it was approved by the route of the run', async () => {
    const shelf = new Shelf();
    const runtime = runtimeOf(shelf, { authorize: asksBo });
    const runId = await runOf(runtime);
    const { approvalId = '' } = await undo(runtime, runId);
    await runtime.decide(runId, approvalId, { approved: true }, bo);
    await runtime.sweep();
    expect(shelf.undone).toEqual(['c', 'b', 'a']);
    expect(await runtime.sweep()).toBe(0);
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

  it('goes on elsewhere once it is approved: each call once, and what was begun ends it', async () => {
    let [kills, wholes] = [0, 0];
    for (const isAfter of [false, true]) {
      for (let at = 0;; at++) {
        let time = 1_000_000;
        const shelf = new Shelf();
        const storage = memoryStorage({ now: () => time });
        const options = { authorize: asksBo, now: () => time };
        const first = runtimeOf(shelf, { storage, ...options });
        const runId = await runOf(first);
        await undo(first, runId);
        const dying = dyingStorage(storage, shelf, { at, isAfter });
        const second = runtimeOf(shelf, { storage: dying.storage, ...options, limits: { storageGraceMs: 0 } });
        await decide(second).catch(() => undefined);
        if (!shelf.isDead) break;
        kills++;
        shelf.isDead = false;
        time += 700_000;
        const third = runtimeOf(shelf, { storage, ...options });
        await third.sweep();
        expect(new Set(shelf.undone).size, `kill at ${at}`).toBe(shelf.undone.length);
        expect(shelf.undone.toSorted().toReversed(), `kill at ${at}`).toEqual(shelf.undone);
        const { calls } = await third.undo.preview(runId, {}, ada);
        const open = calls.filter(({ can }) => can === 'yes').length;
        const unknown = calls.filter(({ why }) => why === 'undo_unknown').length;
        // It was not decided, or is whole, or has stopped at the call that was begun.
        if ((await third.inbox.list(bo)).waiting > 0) expect(open, `kill at ${at}`).toBe(3);
        else if (unknown === 0) expect([open, shelf.things.size], `kill at ${at}`).toEqual([0, 0]);
        else expect(unknown, `kill at ${at}`).toBe(1);
        if (shelf.things.size === 0 && unknown === 0) wholes++;
        const told = (await third.chats.get('chat-1', ada)).messages.filter(({ id }) => id.startsWith('undo_'));
        expect(told.length, `kill at ${at}`).toBe(calls.some(({ why }) => why === 'taken_back') ? 1 : 0);
      }
    }
    expect([kills > 10, wholes > 3]).toEqual([true, true]);
  });
});
