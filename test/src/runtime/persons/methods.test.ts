/** Every method of a runtime, called by everyone about Ada's records: a method without a row fails. */

import { describe, expect, it } from 'vitest';
import { createRules } from '../../../../src/permission/index.ts';
import { outcomeOf, people, type Ran, type Stage, stageOf } from '../../../fixtures/persons/stage.ts';
import { readAll, runRequest, userMessage } from '../../../fixtures/runtime.ts';

type Who = keyof typeof people;
type Expected = Readonly<Record<Who, string>>;

const { owner: ada, approver: cleo } = people;
const terms = { goal: 'Delete n1', agentId: 'helper', allowHumanIntervention: true };
const key = { key: 'k1', fingerprint: JSON.stringify(runRequest()) };

const yearly = { agentId: 'helper', name: 'Yearly', message: 'Hello', when: { cron: '0 8 1 1 *' } };

/** Ada's records: a schedule, a run that is done, one that waits for Cleo, one under way, a file, and a plan that waits for Cleo. */
async function recordsOf(stage: Stage) {
  const { runtime, ran } = stage;
  const chunks = await readAll(await runtime.run(runRequest(), ada, { idempotencyKey: 'k1' }));
  const done = chunks.flatMap((chunk) => chunk.type === 'data-run' ? [(chunk.data as Ran).runId] : [])[0] ?? '';
  await ran('Hello', ada, { id: 'kept', store: true });
  const asked = await ran('Delete n1', ada, { id: 'c2' });
  const waits = runRequest({ chat: { id: 'c3', messages: [userMessage('Wait')] } });
  const { runId: live } = await runtime.start(waits, ada, {});
  const file = await runtime.blobs.put(new TextEncoder().encode('private'), 'text/plain', ada);
  const { planId } = await runtime.planner.start(terms, ada, {
    idempotencyKey: 'p1',
  });
  await runtime.planner.outcome(planId, ada);
  const [ask] = await runtime.planner.questions(planId, ada);
  const following = runRequest({ chat: { id: 'c4', messages: [userMessage('Follow')] }, planner: { planId } });
  const { runId: planned } = await runtime.start(following, ada, {});
  const { id: schedule } = await runtime.schedules.create(yearly, ada);
  return { ...stage, done, asked, live, file: file.id, planId, askId: ask?.ask ?? '', planned, schedule };
}

type Records = Awaited<ReturnType<typeof recordsOf>>;

interface Row {
  readonly call: (records: Records, who: (typeof people)[Who]) => Promise<unknown>;
  readonly expected: Expected;
}

const noRun = 'not_found run_not_found';
const ofRun: Expected = { owner: 'ok', admin: 'ok', other: noRun, approver: noRun, stranger: noRun, limited: noRun };
const noSchedule = 'not_found schedule_not_found';
/** An administrator reads and stops it, and never writes it: it has the rights of its owner. */
const ofSchedule: Expected = {
  owner: 'ok',
  admin: 'ok',
  other: noSchedule,
  approver: noSchedule,
  stranger: noSchedule,
  limited: noSchedule,
};
const writesSchedule: Expected = { ...ofSchedule, admin: 'forbidden not_the_owner' };
const noPlan = 'not_found plan_not_found';
const ofPlan: Expected = {
  owner: 'ok',
  admin: 'ok',
  other: noPlan,
  approver: noPlan,
  stranger: noPlan,
  limited: noPlan,
};
const noChat = 'not_found chat_unknown';
const ofChat: Expected = {
  owner: 'ok',
  admin: noChat,
  other: noChat,
  approver: noChat,
  stranger: noChat,
  limited: noChat,
};
const scope = 'forbidden scope_missing';
const named = { owner: 'ok', admin: 'ok', other: scope, approver: scope };
const noFile = 'not_found attachment_missing';
const noQuestion = 'not_found approval_not_found';
/** Cleo is named: Ada has asked, and does not decide. */
const ofQuestion: Expected = {
  owner: 'forbidden not_an_approver',
  approver: 'ok',
  admin: 'ok',
  other: noQuestion,
  stranger: noQuestion,
  limited: noQuestion,
};
/** What is found, as text: those who find nothing find the same as for a chat or a key that is none. */
const found = (value: unknown): Promise<never> =>
  Promise.reject(
    Object.assign(new Error(), { code: value === undefined ? 'nothing' : 'found', details: { reason: '' } }),
  );
const ownAlone = { owner: 'found ', admin: 'nothing ', other: 'nothing ', approver: 'nothing ', stranger: 'nothing ' };

const approve = { approved: true };
const next = async (steps: AsyncIterable<unknown>) => await steps[Symbol.asyncIterator]().next();
const first = async (stream: ReadableStream<unknown>) => {
  const reader = stream.getReader();
  await reader.read();
  await reader.cancel('coming_back');
};

const rows: Readonly<Record<string, Row>> = {
  'runs.status': { call: ({ runtime, done }, who) => runtime.runs.status(who, done), expected: ofRun },
  'runs.state': { call: ({ runtime, done }, who) => runtime.runs.state(who, done), expected: ofRun },
  'runs.cursor': { call: ({ runtime, done }, who) => runtime.runs.cursor(who, done, 0), expected: ofRun },
  'runs.follow': { call: ({ runtime, done }, who) => runtime.runs.follow(who, done, 0), expected: ofRun },
  'runs.answer': { call: ({ runtime, done }, who) => runtime.runs.answer(who, done), expected: ofRun },
  'runs.earlier': { call: ({ runtime, done }, who) => runtime.runs.earlier(who, done), expected: ofRun },
  'runs.cancel': { call: ({ runtime, live }, who) => runtime.runs.cancel(who, live), expected: ofRun },
  'runs.send': {
    call: ({ runtime, live }, who) => runtime.runs.send(who, { runId: live, message: { id: 'x', parts: [] } }),
    expected: ofRun,
  },
  'runs.find': {
    call: async ({ runtime }, who) => await found(await runtime.runs.find(who, key)),
    expected: { ...ownAlone, limited: 'found ' }, // whether a key is taken is the person's; `answer` refuses
  },
  'runs.ofChat': {
    call: async ({ runtime }, who) => await found(await runtime.runs.ofChat(who, 'c3')),
    expected: { ...ownAlone, limited: noRun },
  },
  run: {
    call: async ({ runtime, done }, who) => {
      const chunks = await readAll(await runtime.run(runRequest(), who, { idempotencyKey: 'k1' }));
      await found(JSON.stringify(chunks).includes(done) ? done : undefined);
    },
    expected: { ...ownAlone, limited: 'forbidden agent_not_allowed' },
  },
  start: {
    call: async ({ runtime, done }, who) => {
      const { runId } = await runtime.start(runRequest(), who, { idempotency: key });
      await found(runId === done ? done : undefined);
    },
    expected: { ...ownAlone, limited: 'forbidden agent_not_allowed' },
  },
  resume: {
    call: async ({ runtime, done }, who) => await readAll(await runtime.resume(done, 0, { principal: who })),
    expected: ofRun,
  },
  send: {
    call: ({ runtime, live }, who) => runtime.send(live, { id: 'x', parts: [{ type: 'text', text: 'Hi' }] }, who),
    expected: ofRun,
  },
  cancel: { call: ({ runtime, live }, who) => runtime.cancel(live, who), expected: ofRun },
  fork: {
    call: async ({ runtime, done }, who) => await readAll(await runtime.fork(done, { atStep: 1 }, who)),
    expected: ofRun,
  },
  startFork: { call: ({ runtime, done }, who) => runtime.startFork(done, { atStep: 1 }, who, {}), expected: ofRun },
  'undo.preview': { call: ({ runtime, done }, who) => runtime.undo.preview(done, {}, who), expected: ofRun },
  'undo.run': {
    call: async ({ runtime, done }, who) => {
      const { digest } = await runtime.undo.preview(done, {}, ada);
      return await runtime.undo.run(done, { digest }, who);
    },
    expected: ofRun,
  },
  forks: { call: ({ runtime, done }, who) => runtime.forks(done, who), expected: ofRun },
  recorded: { call: ({ runtime, done }, who) => runtime.recorded(done, who), expected: ofRun },
  decide: {
    call: ({ runtime, asked }, who) => runtime.decide(asked.runId, asked.approvalId, approve, who),
    expected: ofQuestion,
  },
  'inbox.list': {
    call: async ({ runtime, asked }, who) => {
      const { items } = await runtime.inbox.list(who);
      await found(items.find(({ id }) => id === asked.approvalId));
    },
    expected: {
      owner: 'found ',
      approver: 'found ',
      admin: 'nothing ',
      other: 'nothing ',
      stranger: 'nothing ',
      limited: 'nothing ',
    },
  },
  'inbox.get': {
    call: ({ runtime, asked }, who) => runtime.inbox.get(asked.approvalId, who),
    expected: { ...ofQuestion, owner: 'ok' },
  },
  'inbox.decide': {
    call: async ({ runtime, asked }, who) => {
      const { seen } = await runtime.inbox.get(asked.approvalId, cleo);
      const [result] = await runtime.inbox.decide([{ id: asked.approvalId, seen, approved: true }], who);
      if (result?.state === 'refused') throw result.error;
    },
    expected: ofQuestion,
  },
  'inbox.watch': {
    call: async ({ runtime }, who) => {
      const reader = (await runtime.inbox.watch(who)).getReader();
      const { value } = await reader.read();
      await reader.cancel();
      await found(value?.type === 'snapshot' ? value.items[0] : undefined);
    },
    expected: {
      owner: 'found ',
      approver: 'found ',
      admin: 'nothing ',
      other: 'nothing ',
      stranger: 'nothing ',
      limited: 'nothing ',
    },
  },
  reply: {
    call: ({ runtime, planned, askId }, who) => runtime.reply(planned, { askId, answer: approve }, who),
    expected: { ...ofQuestion, other: noPlan, stranger: noPlan, limited: noPlan },
  },
  'planner.reply': {
    call: ({ runtime, planId, askId }, who) => runtime.planner.reply(planId, who, { askId, answer: approve }),
    expected: { ...ofQuestion, other: noPlan, stranger: noPlan, limited: noPlan },
  },
  'planner.start': {
    call: async ({ runtime, planId }, who) => {
      const started = await runtime.planner.start(terms, who, { idempotencyKey: 'p1' });
      await found(started.planId === planId ? planId : undefined);
    },
    expected: { ...ownAlone, limited: 'found ' }, // the id alone; the plan itself refuses
  },
  'planner.outcome': { call: ({ runtime, planId }, who) => runtime.planner.outcome(planId, who), expected: ofPlan },
  'planner.events': { call: ({ runtime, planId }, who) => runtime.planner.events(planId, who), expected: ofPlan },
  'planner.stream': {
    call: async ({ runtime, planId }, who) => await first(runtime.planner.stream(planId, who)),
    expected: ofPlan,
  },
  'planner.follow': {
    call: async ({ runtime, planId }, who) => await next(runtime.planner.follow(planId, who)),
    expected: ofPlan,
  },
  'planner.view': { call: ({ runtime, planId }, who) => runtime.planner.view(planId, who), expected: ofPlan },
  'planner.questions': { call: ({ runtime, planId }, who) => runtime.planner.questions(planId, who), expected: ofPlan },
  'planner.cancel': { call: ({ runtime, planId }, who) => runtime.planner.cancel(planId, who), expected: ofPlan },
  'planner.pause': { call: ({ runtime, planId }, who) => runtime.planner.pause(planId, who), expected: ofPlan },
  'planner.resume': { call: ({ runtime, planId }, who) => runtime.planner.resume(planId, who), expected: ofPlan },
  'planner.stop': {
    call: async ({ runtime, planId }, who) => {
      const planner = runtime.planner as unknown as { stop(...args: unknown[]): Promise<void> }; // for runs alone
      await planner.stop(planId, who, { reason: 'x' });
    },
    expected: ofPlan,
  },
  'planner.read': {
    call: ({ runtime, planId }, who) => runtime.planner.read(planId, who, { name: '1.1', length: 1, preview: '' }),
    expected: { ...ofPlan, owner: 'not_found undefined', admin: 'not_found undefined' }, // no value has this name
  },
  'chats.list': {
    call: async ({ runtime }, who) => await found((await runtime.chats.list(who)).items[0]),
    expected: { ...ownAlone, limited: 'nothing ' },
  },
  'chats.get': { call: ({ runtime }, who) => runtime.chats.get('kept', who), expected: ofChat },
  'chats.get of a named subject': {
    call: ({ runtime }, who) => runtime.chats.get('kept', who, { subject: 'ada' }),
    expected: { ...named, stranger: noChat, limited: noChat },
  },
  'chats.rename': {
    call: ({ runtime }, who) => runtime.chats.rename('kept', { title: 'T', version: 1 }, who),
    expected: ofChat,
  },
  'chats.import': { // others, whose chat of this id is another, import it
    call: ({ runtime }, who) => runtime.chats.import({ id: 'kept', messages: [userMessage('New', 'new')] }, who),
    expected: {
      owner: 'conflict chat_changed',
      admin: 'ok',
      other: 'ok',
      approver: 'ok',
      stranger: 'ok',
      limited: noChat,
    },
  },
  'chats.import of a named subject': {
    call: ({ runtime }, who) =>
      runtime.chats.import({ id: 'kept', messages: [userMessage('New', 'new')], subject: 'ada' }, who),
    expected: {
      owner: 'conflict chat_changed',
      admin: 'conflict chat_changed',
      other: scope,
      approver: scope,
      stranger: 'ok',
      limited: noChat,
    },
  },
  'chats.export': {
    call: async ({ runtime }, who) => await found((await Array.fromAsync(runtime.chats.export(who)))[0]),
    expected: { ...ownAlone, limited: 'nothing ' },
  },
  'chats.delete': {
    call: async ({ runtime }, who) => {
      const { messages } = await runtime.chats.delete('kept', who);
      await found(messages > 0 ? messages : undefined);
    },
    expected: { ...ownAlone, limited: 'nothing ' },
  },
  'schedules.list': {
    call: async ({ runtime }, who) => await found((await runtime.schedules.list(who)).items[0]),
    expected: { ...ownAlone, limited: 'nothing ' },
  },
  'schedules.get': { call: ({ runtime, schedule }, who) => runtime.schedules.get(schedule, who), expected: ofSchedule },
  'schedules.fires': {
    call: ({ runtime, schedule }, who) => runtime.schedules.fires(schedule, who),
    expected: ofSchedule,
  },
  'schedules.pause': {
    call: ({ runtime, schedule }, who) => runtime.schedules.pause(schedule, who),
    expected: ofSchedule,
  },
  'schedules.delete': {
    call: ({ runtime, schedule }, who) => runtime.schedules.delete(schedule, who),
    expected: ofSchedule,
  },
  'schedules.update': {
    call: ({ runtime, schedule }, who) => runtime.schedules.update(schedule, { message: 'Other' }, who),
    expected: writesSchedule,
  },
  'schedules.resume': {
    call: ({ runtime, schedule }, who) => runtime.schedules.resume(schedule, who),
    expected: writesSchedule,
  },
  'schedules.run': {
    call: ({ runtime, schedule }, who) => runtime.schedules.run(schedule, who),
    expected: writesSchedule,
  },
  'blobs.put': {
    call: ({ runtime }, who) => runtime.blobs.put(new TextEncoder().encode('own'), 'text/plain', who),
    expected: { owner: 'ok', admin: 'ok', other: 'ok', approver: 'ok', stranger: 'ok', limited: 'ok' },
  },
  'blobs.get': {
    call: ({ runtime, file }, who) => runtime.blobs.get(file, who),
    expected: { owner: 'ok', limited: 'ok', admin: noFile, other: noFile, approver: noFile, stranger: noFile },
  },
  'blobs.get of a named subject': {
    call: ({ runtime, file }, who) => runtime.blobs.get(file, who, { subject: 'ada' }),
    expected: { ...named, limited: 'ok', stranger: noFile },
  },
  'blobs.delete': {
    call: async ({ runtime, file }, who) => {
      await runtime.blobs.delete(file, who, { subject: 'ada' });
      await found(await runtime.blobs.get(file, ada).catch(() => undefined));
    },
    expected: { owner: scope, limited: scope, other: scope, approver: scope, admin: 'nothing ', stranger: 'found ' },
  },
};

/** Methods that are about no record of a person. */
const ofNobody: Readonly<Record<string, string>> = {
  'runs.claim': 'starts a run of the caller',
  'runs.takeOver': 'for the runtime itself, of an instance that is gone',
  'runs.openTaken': 'for the runtime itself, of an instance that is gone',
  'runs.read': 'for the runtime itself',
  'runs.agents': 'the ids of agents, for the runtime itself',
  'runs.stop': 'for the runtime itself, where an agent may no longer run',
  'runs.drained': 'for the runtime itself',
  'runs.handOver': 'for the runtime itself, at a stop signal',
  diagnose: 'probes the runtime, for operators',
  problems: 'about agents',
  'runs.close': 'for the runtime itself',
  startRecorded: 'starts a run of the caller',
  'schedules.create': 'creates a schedule of the caller',
  'schedules.receive': 'takes a signature in place of a principal; see the tests of hooks',
  'schedules.has': 'for the erasure of a person, with the scope `admin`',
  'schedules.erase': 'for the erasure of a person, with the scope `admin`',
  'schedules.wake': 'for the runtime itself',
  sweep: 'for the host',
  manifest: 'about an agent',
  tools: 'about an agent',
  invalidate: 'about records of the registry',
  prewarm: 'about agents',
  validateMcpServer: 'about a record of the registry',
  events: 'for administrators of the tenant',
  feed: 'for administrators of the tenant',
  audit: 'for administrators of the tenant',
  guard: 'guards what the caller does',
  place: 'a trace',
  refused: 'emits a refusal',
  ready: 'probes the runtime',
  budgets: 'what the caller has used',
  authorize: 'the hook',
  report: 'for the host',
  close: 'for the host',
  readInRun: 'reads for a run, in the name of its caller',
  'metrics.count': 'counts',
  'metrics.gauge': 'counts',
  'metrics.observe': 'counts',
  'metrics.time': 'counts',
  'metrics.text': 'counts of the instance',
  'planner.run': 'starts a plan of the caller',
  'planner.sweep': 'for the host',
  'planner.wake': 'for the runtime itself',
  'planner.take': 'for the runtime itself',
  'planner.close': 'for the host',
  'planner.openPlans': 'counts',
  'steps.think': 'in the name of the owner that it is given, for plans',
  'steps.act': 'in the name of the owner that it is given, for plans',
  'mcpSignIns.start': 'the sign-in of the caller; see the tests of sign-ins',
  'mcpSignIns.finish': 'the sign-in of the caller; see the tests of sign-ins',
  'mcpSignIns.grant': 'the sign-in of the caller; see the tests of sign-ins',
  'mcpSignIns.revoke': 'the sign-in of the caller; see the tests of sign-ins',
  'mcpSignIns.answer': 'the questions of a server; see the tests of questions',
  'prompts.list': 'about the servers of an agent',
  'prompts.get': 'about the servers of an agent',
  'prompts.complete': 'about the servers of an agent',
  'resources.list': 'about the servers of an agent',
  'resources.read': 'about the servers of an agent',
  'apps.read': 'about the servers of an agent',
  'apps.call': 'about the servers of an agent',
};

function methodsOf(runtime: Stage['runtime']): string[] {
  return Object.entries(runtime).flatMap(([name, value]: [string, unknown]) => {
    if (typeof value === 'function') return [name];
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([method, inner]) => typeof inner === 'function' ? [`${name}.${method}`] : []);
  });
}

/** A person must approve each deletion, and it is Cleo. */
const authorize = createRules([
  { effect: 'ask', actions: ['tool.call'], resources: ['tool:delete_note'], approvers: ['subject:cleo'] },
], { otherwise: 'allow' });

describe('every method of a runtime', () => {
  it('is in the table of who may, or is about no record of a person', () => {
    const methods = methodsOf(stageOf().runtime);
    expect(methods.length).toBeGreaterThan(60);
    expect(methods.filter((name) => !(name in rows) && !(name in ofNobody))).toEqual([]);
    const gone = [...Object.keys(rows), ...Object.keys(ofNobody)].map((name) => name.split(' ')[0]);
    expect(gone.filter((name) => !methods.includes(name ?? ''))).toEqual([]);
  });

  describe.each(Object.entries(rows))('%s', (_, { call, expected }) => {
    it.each(Object.keys(people) as Who[])('answers as it should: %s', async (who) => {
      const records = await recordsOf(stageOf({ authorize }));
      expect(await outcomeOf(call(records, people[who]))).toBe(expected[who]);
      await records.runtime.cancel(records.live, ada);
    });
  });
});
