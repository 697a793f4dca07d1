import { parser } from '@prometheus-io/lezer-promql';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { rehearsal } from '../../../adapters/models/rehearsal.ts';
import { eventStore } from '../../../adapters/sinks/event-store.ts';
import { gaugeSink } from '../../../adapters/sinks/queue.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { developmentAuthenticator } from '../../../adapters/transport/development-authenticator.ts';
import { createHandler } from '../../../adapters/transport/http.ts';
import { encodeSse } from '../../../adapters/transport/http/sse.ts';
import {
  createEventRing,
  createRuntime,
  defineTool,
  type HostedRuntime,
  localPrincipal,
  PinnaceError,
} from '../../../src/index.ts';
import { metricCatalog } from '../../../src/base/metrics.ts';
import { says, scriptedModel, stallingStream } from '../../fixtures/model.ts';
import { mortal, recovered } from '../../fixtures/processes/lost-instance.ts';
import { programRuntime, take } from '../../fixtures/programs.ts';
import { runRequest, testRuntime } from '../../fixtures/runtime.ts';
import { type Family, readPrometheus } from '../../tools/prometheus.ts';

interface Query {
  readonly expr: string;
  /** Names of metrics, and of the labels that results are grouped or chosen by. */
  readonly metrics: readonly string[];
  readonly labels: readonly string[];
  readonly isBroken: boolean;
}

function readQuery(expr: string): Query {
  const plain = expr.replaceAll('$__rate_interval', '5m');
  const found = { metrics: [] as string[], labels: [] as string[], isBroken: false };
  parser.parse(plain).iterate({
    enter({ type, from, to }) {
      if (type.isError) found.isBroken = true;
      if (type.name === 'Identifier') found.metrics.push(plain.slice(from, to));
      if (type.name === 'LabelName') found.labels.push(plain.slice(from, to));
    },
  });
  return { expr, ...found };
}

async function queriesOf(file: string): Promise<readonly Query[]> {
  const text = await readFile(join(import.meta.dirname, '../../..', file), 'utf8');
  const { panels } = JSON.parse(text) as { panels: { targets: { expr: string }[] }[] }; // as Grafana has it
  return panels.flatMap(({ targets }) => targets).map(({ expr }) => readQuery(expr));
}

/** The metrics of a runtime in which everything has happened that is counted. */
async function everyMetric(): Promise<ReadonlyMap<string, Family>> {
  const storage = memoryStorage();
  const fail = defineTool({
    id: 'calculator',
    description: 'Calculates',
    input: v.object({ expression: v.string() }),
    execute: () => {
      throw new PinnaceError('unavailable', 'Away');
    },
  });
  const agents = [
    { id: 'helper', name: 'Helper', providerId: 'demo', entryTools: ['calculator'] },
    { id: 'patient', name: 'Patient', providerId: 'held', entryTools: ['calculator'] },
    { id: 'fragile', name: 'Fragile', providerId: 'down', fallbacks: [{ providerId: 'demo' }] },
  ];
  const providers = ['demo', 'down', 'held'].map((id) => ({ id, kind: 'rehearsal' as const }));
  const catalog = staticCatalog({ agents, providers });
  const store = eventStore({ storage });
  const refused = Object.assign(new Error('No'), { name: 'AI_APICallError', statusCode: 401, isRetryable: false });
  const working = rehearsal({ delayMs: 0 });
  const down = { ...working, doStream: () => Promise.reject(refused) };
  const sent = Promise.withResolvers<void>();
  /** Answers once a message was sent to its run. */
  const held = {
    ...working,
    doStream: async (options: Parameters<typeof working.doStream>[0]) => {
      await sent.promise;
      return await working.doStream(options);
    },
  };
  const sources = new Map([['down', down], ['held', held]]);
  const models = { model: ({ id }: { readonly id: string }) => sources.get(id) ?? working };
  const budgets = [{ id: 'day', of: 'tenant', every: 'day', runs: 1_000 }] as const;
  const runtime = createRuntime({ catalog, models, storage, budgets, tools: [fail], ring: createEventRing({ store }) });
  gaugeSink(runtime.metrics, 'events', store);
  const messages = [{ id: 'm1', role: 'user' as const, parts: [{ type: 'text' as const, text: 'What is 6 * 7?' }] }];
  const request = { agentId: 'helper', chat: { id: 'c1', messages }, budget: { tokens: 10_000 } };
  for (let i = 0; i < 2; i++) await Array.fromAsync(await runtime.run(request, localPrincipal()));
  const { runId } = await runtime.start({ ...request, agentId: 'patient' }, localPrincipal(), {});
  await runtime.send(runId, { parts: [{ type: 'text', text: 'And 6 * 8?' }] }, localPrincipal());
  sent.resolve();
  const cursor = await runtime.runs.cursor(localPrincipal(), runId, 0);
  await new Response(encodeSse(cursor, { runId, keepAliveMs: 60_000, metrics: runtime.metrics })).text();
  await runtime.planner.run(
    { goal: 'What is 6 * 7?', agentId: 'helper', budget: { tokens: 10_000 } },
    localPrincipal(),
  );
  await Array.fromAsync(await runtime.run({ ...request, agentId: 'fragile' }, localPrincipal()));
  await runtime.run({ ...request, agentId: 'nobody' }, localPrincipal()).catch(() => undefined);
  const authenticator = developmentAuthenticator({ token: 'a-token-for-tests-only' });
  await createHandler(runtime, { authenticator })(new Request('http://127.0.0.1/v1/runs/run_x'));
  await runtime.close();
  await store.close();
  const { runtime: programs } = programRuntime('return 1', { tools: [] });
  await take(programs);
  const texts = [programs, runtime, await takenOver()].map(({ metrics }) => metrics.text());
  return new Map(texts.flatMap((text) => [...readPrometheus(text)]));
}

/** A runtime that has continued a run of another instance. */
async function takenOver(): Promise<HostedRuntime> {
  const storage = memoryStorage();
  const dying = mortal(storage);
  const first = testRuntime({ ...scriptedModel(() => stallingStream([])), storage: dying.storage });
  const { runId } = await first.start(runRequest(), localPrincipal(), {});
  dying.kill();
  const second = testRuntime({ ...scriptedModel(says('Hello')), storage });
  await recovered(second, runId, storage);
  return second;
}

describe('the sample dashboard', () => {
  it('asks for metrics that there are, by labels that they have', async () => {
    const queries = await queriesOf('demo/grafana-dashboard.json');
    const metrics = await everyMetric();
    expect(queries.filter(({ isBroken }) => isBroken)).toEqual([]);
    expect(queries.length).toBeGreaterThan(10);
    const samples = new Map<string, Set<string>>();
    for (const { name, labels } of [...metrics.values()].flatMap((family) => family.samples)) {
      samples.set(name, (samples.get(name) ?? new Set()).union(new Set(Object.keys(labels))));
    }
    for (const { expr, metrics: asked, labels } of queries) {
      expect(asked.length, expr).toBeGreaterThan(0);
      for (const name of asked) {
        expect([...samples.keys()], expr).toContain(name);
        expect([...samples.get(name) ?? []], expr).toEqual(expect.arrayContaining([...labels]));
      }
    }
  });

  it('shows every metric that there is', async () => {
    const asked = (await queriesOf('demo/grafana-dashboard.json')).flatMap(({ metrics }) => metrics);
    const families = new Set(asked.map((name) => name.replace(/_bucket$/, '')));
    expect(Object.keys(metricCatalog).filter((name) => !families.has(name))).toEqual([]);
    const counted = [...(await everyMetric()).keys()];
    expect(Object.keys(metricCatalog).filter((name) => !counted.includes(name))).toEqual([]);
  });
});
