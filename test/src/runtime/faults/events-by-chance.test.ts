import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import { memorySecrets } from '../../../../adapters/secrets/memory.ts';
import { memorySink } from '../../../../adapters/sinks/memory.ts';
import { storageSink } from '../../../../adapters/sinks/storage.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import {
  createAudit,
  createRuntime,
  type EventSink,
  localPrincipal,
  PinnaceError,
  type Planner,
  type UIMessageChunk,
} from '../../../../src/index.ts';
import type { PlanOutcome } from '../../../../src/planner/index.ts';
import { type Chance, createChance } from '../../../../src/simulation/chance.ts';
import { eventProblems } from '../../../../src/simulation/invariants.ts';
import { canary, randomTools } from '../../../fixtures/hostile/random-tools.ts';
import { callsTools, says, scriptedModel, stallingStream, streamOf } from '../../../fixtures/model.ts';
import { readAll, runRequest } from '../../../fixtures/runtime.ts';

const me = localPrincipal();
const runs = 25;

type Script = ReturnType<typeof says> | (() => ReadableStream<ReturnType<typeof says>[number]>);

function randomScripts(chance: Chance, inTurn: boolean, stop: () => void): readonly Script[] {
  const steps = Array.from({ length: chance.of([0, 1, 2, 3]) }, (): Script => {
    const tools = chance.of(
      inTurn ? [['a'], ['b'], ['nobody']] : [['a'], ['a', 'b'], ['a', 'b', 'c'], ['nobody', 'a']],
    );
    return callsTools(
      ...tools.map((tool, i) => ({ tool, input: chance.of([{}, { q: canary }, { q: 5 }]), id: `c${i}` })),
    );
  });
  const end = chance.of<Script>([
    says('done'),
    () => streamOf([{ type: 'error', error: new Error(canary) }]),
    () => {
      throw new PinnaceError('rate_limited', canary);
    },
    () => {
      stop();
      return stallingStream(says('Hel').slice(0, 3));
    },
  ]);
  return [...steps, end];
}

/** One run by the seed, as its stream tells it, with whatever sinks there are. */
async function runBy(seed: number, sinks: readonly EventSink[], { inTurn = false } = {}) {
  const audit = createAudit({ storage: memoryStorage() });
  const chance = createChance(seed);
  const stop = new AbortController();
  const scripts = randomScripts(chance, inTurn, () => stop.abort('user'));
  const tools = randomTools(chance, inTurn);
  const { model } = scriptedModel(...scripts);
  const runtime = createRuntime({
    catalog: staticCatalog({
      agents: [{ id: 'helper', name: 'Helper', providerId: 'p', entryTools: ['*'] }],
      providers: [{ id: 'p', kind: 'custom', secret: { id: 'canary' } }],
    }),
    models: { model: () => model },
    secrets: memorySecrets({ canary }, { unboundSecrets: 'allow' }),
    storage: memoryStorage(),
    tools,
    audit,
    sinks,
    limits: { modelRetries: 0 },
    authorize: () =>
      chance.of([0, 1, 2, 3, 4]) === 0 ? { decision: 'deny', reason: 'by chance' } : { decision: 'allow' },
  });
  const chunks = await readAll(await runtime.run(runRequest(), me, { signal: stop.signal }));
  await runtime.close();
  return { chunks, audit };
}

/** What differs from run to run by itself. */
function plain(chunks: readonly UIMessageChunk[]): string {
  return JSON.stringify(chunks.filter(({ type }) => type !== 'data-usage')).replace(/[0-9a-f]{32}/g, 'id');
}

describe('the events of any run', () => {
  it('start once, end once, nest, and contain no secret; the log has them all, and the chain of the audit is valid', async () => {
    for (let seed = 1; seed <= runs; seed++) {
      const { sink, events } = memorySink();
      const stored = storageSink({ storage: memoryStorage() });
      const { audit } = await runBy(seed, [sink, stored.sink]);
      await stored.flush();
      const hint = `seed ${seed}`;
      expect(eventProblems(events), hint).toEqual([]);
      expect(events.at(-1)?.action, hint).toBe('run.end');
      expect(await stored.log.bounds(), hint).toEqual({ first: 1, last: events.length });
      expect(await audit.log('local').verify(), hint).toMatchObject({ ok: true });
      const { items } = await audit.log('local').list({ limit: 100 });
      const begun = items.map(({ event }) => event).filter(({ status }) => status !== 'denied'); // rejected calls never started
      expect(eventProblems(begun), hint).toEqual([]);
      expect(JSON.stringify([events, items]), hint).not.toContain('canary-0123456789');
    }
  });

  it('change nothing of it, whether sinks throw, reject, never answer or are not there', async () => {
    const bad: readonly EventSink[] = [
      () => {
        throw new Error('no');
      },
      () => Promise.reject(new Error('no')),
      () => new Promise<void>(() => undefined),
    ];
    for (let seed = 100; seed < 110; seed++) {
      // One call after the other: what happens at once may come in any order.
      const without = await runBy(seed, [], { inTurn: true });
      const broken = await runBy(seed, bad, { inTurn: true });
      expect(plain(broken.chunks), `seed ${seed}`).toBe(plain(without.chunks));
    }
  });
});

const plans = 20;
const calls = [
  { tool: 'create', input: { goal: canary } },
  { tool: 'create', input: { goal: 'The bow', agentId: 'helper' } },
  { tool: 'create', input: { goal: 'The stern', agentId: 'nobody' } },
  { tool: 'send', input: { to: '1', body: canary } },
  { tool: 'send', input: { to: '1-9', body: 'Nobody is there' } },
  { tool: 'ask_human', input: { question: canary } },
  { tool: 'a', input: {} },
  { tool: 'b', input: { q: canary } },
  { tool: 'c', input: { q: 5 } },
  { tool: 'nobody', input: {} },
];

/** A model that goes on with anything, and ends at some time. */
function randomModel(chance: Chance) {
  return scriptedModel(() => {
    switch (chance.below(8)) {
      case 0:
        return streamOf([{ type: 'error', error: new Error(canary) }]);
      case 1:
        throw new PinnaceError('rate_limited', canary);
      case 2:
      case 3:
        return streamOf(says(`done with ${canary}`));
      default: {
        const wanted = Array.from({ length: 1 + chance.below(3) }, (_, i) => ({ ...chance.of(calls), id: `c${i}` }));
        return streamOf(callsTools(...wanted));
      }
    }
  }).model;
}

/** Answers, cancels, pauses and goes on by chance, until the plan has ended. */
async function seeThrough(planner: Planner, planId: string, chance: Chance): Promise<PlanOutcome> {
  if (chance.oneIn(3)) await planner.pause(planId, me).catch(() => undefined);
  for (let turn = 0;; turn++) {
    const outcome = await planner.outcome(planId, me);
    if (outcome.state !== 'suspended') return outcome;
    if (turn > 8 || chance.oneIn(6)) await planner.cancel(planId, me).catch(() => undefined);
    const [question] = outcome.questions;
    if (question) {
      const answer = question.kind === 'approval' ? { approved: chance.oneIn(2) } : canary;
      await planner.reply(planId, me, { askId: question.ask, answer }).catch(() => undefined);
    }
    await planner.resume(planId, me).catch(() => undefined);
  }
}

async function planBy(seed: number, sinks: readonly EventSink[]) {
  const audit = createAudit({ storage: memoryStorage() });
  const chance = createChance(seed);
  const model = randomModel(chance);
  const runtime = createRuntime({
    catalog: staticCatalog({
      agents: [{ id: 'helper', name: 'Helper', providerId: 'p', entryTools: ['*'] }],
      providers: [{ id: 'p', kind: 'custom', secret: { id: 'canary' } }],
    }),
    models: { model: () => model },
    secrets: memorySecrets({ canary }, { unboundSecrets: 'allow' }),
    storage: memoryStorage(),
    tools: randomTools(chance, false),
    audit,
    sinks,
    limits: { modelRetries: 0 },
    authorize: (action) =>
      action === 'tool.call' && chance.oneIn(5)
        ? { decision: 'deny', reason: 'by chance' }
        : action === 'planner.create' && chance.oneIn(8)
        ? { decision: 'ask', reason: 'by chance' }
        : { decision: 'allow' },
  });
  const terms = { goal: canary, agentId: 'helper', allowHumanIntervention: true, maxParallelism: chance.of([1, 2, 8]) };
  const budget = { agents: 6, steps: chance.of([3, 20]) };
  const started = await runtime.planner.start({ ...terms, budget }, me).catch(() => undefined); // the hook may refuse it
  const outcome = started && await seeThrough(runtime.planner, started.planId, chance);
  await runtime.close();
  return { audit, outcome };
}

describe('the events of any plan', () => {
  it('start once, end once, nest, and contain no secret; the log has them all, and the chain of the audit is valid', async () => {
    const ends = new Set<string | undefined>();
    for (let seed = 1; seed <= plans; seed++) {
      const { sink, events } = memorySink();
      const stored = storageSink({ storage: memoryStorage() });
      const { audit, outcome } = await planBy(seed, [sink, stored.sink]);
      ends.add(outcome?.state);
      await stored.flush();
      const hint = `seed ${seed}`;
      expect(eventProblems(events), hint).toEqual([]);
      expect(await stored.log.bounds(), hint).toEqual({ first: 1, last: events.length });
      expect(await audit.log('local').verify(), hint).toMatchObject({ ok: true });
      const { items } = await audit.log('local').list({ limit: 200 });
      const begun = items.map(({ event }) => event).filter(({ spanId, status }) =>
        spanId !== undefined && status !== 'denied'
      ); // rejected calls never started
      expect(eventProblems(begun), hint).toEqual([]);
      expect(JSON.stringify([events, items]), hint).not.toContain('canary-0123456789');
    }
    expect(ends.size).toBeGreaterThan(1); // chance has seen some of what there is
  });
});
