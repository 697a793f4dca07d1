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
  type UIMessageChunk,
} from '../../../../src/index.ts';
import { type Chance, createChance } from '../../../../src/simulation/chance.ts';
import { eventProblems } from '../../../../src/simulation/invariants.ts';
import { callsTools, says, scriptedModel, stallingStream, streamOf } from '../../../fixtures/model.ts';
import { canary, randomTools } from '../../../fixtures/hostile/random-tools.ts';
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
