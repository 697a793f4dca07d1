/** Notices under every fault of every port, and in every state of a killed process: each arrives, and always with the same id. */

import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { memorySecrets } from '../../../adapters/secrets/memory.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createRuntime, defineTool, localPrincipal, type PlanningRuntime, type Storage } from '../../../src/index.ts';
import {
  type Invariant,
  type LaunchContext,
  portFaults,
  simulate,
  type SimulatedClient,
  toText,
} from '../../../src/simulation/index.ts';
import { callsTools, says, scriptedModel, streamOf } from '../../fixtures/model.ts';
import { runRequest } from '../../fixtures/runtime.ts';

/** What outlives instances: the storage, and what the receiver has got. */
interface World {
  readonly storage: Storage;
  readonly received: { readonly id: string; readonly type: string; readonly item: string }[];
  /** The questions that a client has seen. */
  readonly asked: Set<string>;
}

const me = localPrincipal();

const { model } = scriptedModel(({ prompt }) =>
  streamOf(
    prompt.some(({ role }) => role === 'tool') ? says('Done') : callsTools({ tool: 'wipe', input: {}, id: 'c1' }),
  )
);

function launch({ ports, world }: LaunchContext<World>): PlanningRuntime {
  return createRuntime(ports({
    catalog: staticCatalog({
      agents: [{ id: 'helper', name: 'Helper', providerId: 'test', entryTools: ['wipe'] }],
      providers: [{ id: 'test', kind: 'custom' }],
    }),
    models: { model: () => model },
    storage: world.storage,
    limits: { retentionMs: 7 * 86_400_000 },
    tools: [
      defineTool({ id: 'wipe', description: 'Wipes', approval: 'always', input: v.object({}), execute: () => 'wiped' }),
    ],
    secrets: memorySecrets({ hook: { value: `whsec_${btoa('n'.repeat(24))}`, origins: ['code'] } }),
    egress: {
      async fetch(request) {
        const { type, data } = await request.json() as {
          readonly type: string;
          readonly data: { readonly id: string };
        };
        world.received.push({ id: request.headers.get('webhook-id') ?? '', type, item: data.id });
        return new Response('ok');
      },
    },
    notify: [{
      id: 'desk',
      url: 'https://desk.example.com/hook',
      secret: { id: 'hook' },
      events: ['inbox.opened', 'inbox.settled', 'run.ended'],
    }],
  }));
}

/** Runs, decides in the inbox, and sweeps until nothing is due. */
async function drive({ send, runtime, phase }: SimulatedClient<PlanningRuntime>, world: World): Promise<void> {
  const { chat } = runRequest();
  await send(runRequest({ chat: { ...chat, store: true } }));
  const deciding = async (): Promise<void> => {
    const { items } = await runtime.inbox.list(me);
    for (const { id } of items) world.asked.add(id);
    if (items.length > 0) await runtime.inbox.decide(items.map(({ id, seen }) => ({ id, seen, approved: false })), me);
  };
  await (phase === 'first' ? deciding().catch(() => undefined) : deciding());
  if (phase === 'first') return;
  for (let hour = 0; hour < 40; hour++) {
    await new Promise((resolve) => setTimeout(resolve, 3_600_000));
    await runtime.sweep();
  }
}

const invariants: readonly Invariant<World>[] = [
  ({ world: { received } }) => {
    const byFact = Map.groupBy(received, ({ type, item }) => `${type} ${item}`);
    return [...byFact.values()].some((some) => new Set(some.map(({ id }) => id)).size > 1)
      ? 'a notice has two ids'
      : [];
  },
  ({ world: { received, asked }, first, retry, after }) => {
    const has = (type: string, item: string) => received.some((one) => one.type === type && one.item === item);
    const runs = [...first, ...retry, ...after].flatMap(({ runId }) => runId ?? []);
    return [
      ...[...asked].filter((id) => !has('inbox.opened', id)).map(() => 'a question was not announced'),
      ...[...asked].filter((id) => !has('inbox.settled', id)).map(() => 'a decision was not announced'),
      ...runs.filter((id) => !has('run.ended', id)).map(() => 'an end was not announced'),
    ];
  },
  async ({ world: { storage } }) =>
    (await storage.list({ prefix: ['delivery'], limit: 10 })).length > 0 ? 'a delivery is left' : undefined,
];

describe('notices under faults', () => {
  it('arrive at least once, with one id each', { timeout: 600_000 }, async () => {
    const report = await simulate({
      world: ({ now }): World => ({ storage: memoryStorage({ now }), received: [], asked: new Set() }),
      launch,
      drive,
      invariants,
      // A storage that says that it has lost a notice is believed.
      faults: portFaults.filter(({ name }) => name !== 'storage garbage'),
      driveMs: 200_000_000,
      seeds: process.env['PINNACE_TEST'] === 'long' ? 1_000 : 30,
    });
    expect(toText(report)).toMatch(/^Simulation passed/);
  });
});
