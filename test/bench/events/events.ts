/**
 * The cost of events: one event to no observer, to the ring, and to sinks in memory and storage; then whole runs that emit and
 * store everything, compared with runs that emit nothing.
 */

import process from 'node:process';
import * as v from 'valibot';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { memorySink } from '../../../adapters/sinks/memory.ts';
import { storageSink } from '../../../adapters/sinks/storage.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import {
  createAudit,
  createEventRing,
  createRuntime,
  type CreateRuntimeOptions,
  defineTool,
  localPrincipal,
} from '../../../src/index.ts';
import type { Emit } from '../../../src/events/events.ts';
import { createEmit } from '../../../src/events/event-ring.ts';
import { startSpan } from '../../../src/events/span.ts';
import { callsTools, says, scriptedModel } from '../../fixtures/model.ts';
import { cpuRounds, median, ratioOf, report, type Row } from '../measure.ts';

const spansPerCall = 500;

/** Emits runs as the runtime does: spans with a payload of four facts, each in another. */
function emitSpans(emit: Emit): void {
  const run = startSpan({
    traceId: '0af7651916cd43dd8448eb211c80319c',
    tenant: 'local',
    actor: { type: 'user', id: 'local' },
    action: 'run.start',
    endAction: 'run.end',
    target: { type: 'agent', id: 'helper' },
  }, { emit, now: Date.now });
  for (let i = 1; i < spansPerCall; i++) {
    const call = run.start({
      action: 'tool.call',
      actor: { type: 'agent', id: 'helper' },
      target: { type: 'tool', id: 'lookup' },
      payload: { toolCallId: `call_${i}`, input: 32 },
    });
    call.note({ output: 64 });
    call.end({ status: 'ok', payload: { attempts: 1 } });
  }
  run.end({ status: 'ok' });
}

async function measureEvents(): Promise<Row[]> {
  const memory = memorySink({ capacity: 1000 });
  let stored = storageSink({ storage: memoryStorage() });
  const emits: Readonly<Record<string, Emit>> = {
    'no observer': createEmit({ sinks: [], now: Date.now }),
    'no sink': createEmit({ sinks: [], ring: createEventRing(), now: Date.now }),
    'memory and storage': createEmit({
      sinks: [memory.sink, (event) => stored.sink(event)],
      ring: createEventRing(),
      now: Date.now,
    }),
  };
  const runs = Object.fromEntries(
    Object.entries(emits).map(([name, emit]) => [name, async () => {
      stored = storageSink({ storage: memoryStorage() }); // a log that only grows would be what is measured
      emitSpans(emit);
      if (name === 'memory and storage') await stored.flush();
    }]),
  );
  const times = await cpuRounds(runs, { rounds: 5, calls: 4, warmup: 2 });
  const bars: Readonly<Record<string, number>> = { 'no sink': 5, 'memory and storage': 15 };
  return Object.entries(times).map(([name, rounds]): Row => {
    const us = median(rounds) * 1000 / (2 * spansPerCall);
    const bar = bars[name];
    const met = bar !== undefined && { bar: `<= ${bar} us`, met: us <= bar };
    return { figure: `One event, ${name}`, value: `${us.toFixed(2)} us`, ...met };
  });
}

const lookup = defineTool({
  id: 'lookup',
  description: 'look something up',
  input: v.object({ q: v.string() }),
  annotations: { readOnlyHint: true },
  execute: ({ q }) => ({ q }),
});
const store = defineTool({
  id: 'store',
  description: 'store something',
  input: v.object({ q: v.string() }),
  execute: ({ q }) => ({ q }),
});
const calls = callsTools(
  { tool: 'lookup', input: { q: 'a' } },
  { tool: 'lookup', input: { q: 'b' } },
  { tool: 'store', input: { q: 'c' } },
);
const answer = says(...Array.from({ length: 100 }, (_, i) => `token${i} `));
const messages = [{ id: 'm', role: 'user' as const, parts: [{ type: 'text' as const, text: 'hello' }] }];

function variant(options: Partial<CreateRuntimeOptions>): () => Promise<void> {
  let { model } = scriptedModel(calls, answer);
  const runtime = createRuntime({
    catalog: staticCatalog({
      agents: [{ id: 'a', name: 'A', providerId: 'p', entryTools: ['*'] }],
      providers: [{ id: 'p', kind: 'custom' }],
    }),
    models: { model: () => model },
    storage: memoryStorage(),
    tools: [lookup, store],
    ...options,
  });
  return async () => {
    ({ model } = scriptedModel(calls, answer));
    const stream = await runtime.run({ agentId: 'a', chat: { id: 'c', messages } }, localPrincipal());
    const reader = stream.getReader();
    while (!(await reader.read()).done);
  };
}

async function measureRuns(): Promise<Row[]> {
  const stored = storageSink({ storage: memoryStorage(), retentionMs: 600_000 });
  const on = variant({
    sinks: [stored.sink],
    audit: createAudit({ storage: memoryStorage(), retentionMs: 600_000 }),
    ring: createEventRing(),
  });
  const times = await cpuRounds({
    'everything off': variant({ ring: createEventRing({ capacity: 0 }) }),
    'everything on': async () => {
      await on();
      await stored.flush();
    },
  }, { rounds: 5, calls: 60, warmup: 40 });
  return Object.entries(times).map(([name, rounds]): Row => {
    const ratio = ratioOf(rounds, times['everything off']);
    const off = `${median(times['everything off'] ?? []).toFixed(2)} ms`;
    const met = name === 'everything on' && { peer: off, bar: '<= 1.25', met: ratio <= 1.25 };
    return { figure: `A run, ${name}`, value: `${median(rounds).toFixed(2)} ms`, ratio: ratio.toFixed(3), ...met };
  });
}

report('Events', [...await measureEvents(), ...await measureRuns()]);
process.exit(0); // the queues of sinks must not keep the process
