/** Undo under every fault of every port, and in every state of a killed process: once each, newest first, and what stands is named. */

import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import {
  createPrincipal,
  createRules,
  createRuntime,
  defineTool,
  localPrincipal,
  type PlanningRuntime,
  type Storage,
} from '../../../src/index.ts';
import type { UndoReport } from '../../../src/runtime/undo-types.ts';
import {
  type Invariant,
  type LaunchContext,
  simulate,
  type SimulatedClient,
  toText,
} from '../../../src/simulation/index.ts';
import { callsTools, says, scriptedModel, streamOf } from '../../fixtures/model.ts';
import { runRequest } from '../../fixtures/runtime.ts';

/** What outlives instances: what stands, which undos have run, and what was reported of each run. */
interface World {
  readonly storage: Storage;
  readonly standing: Map<string, string>;
  readonly undone: string[];
  readonly reports: Map<string, UndoReport[]>;
}

const local = localPrincipal();
const bo = createPrincipal({
  tenant: 'local',
  subject: 'bo',
  via: 'in-process',
  agents: '*',
  scopes: ['tool:approve'],
});

/** The agent puts a, then b, then c. A model's answer depends on its prompt only. */
const { model } = scriptedModel(({ prompt }) => {
  const name = ['a', 'b', 'c'][prompt.filter(({ role }) => role === 'tool').length];
  return streamOf(name === undefined ? says('Done') : callsTools({ tool: 'put', input: { name }, id: `call-${name}` }));
});

function launch({ ports, world }: LaunchContext<World>, isAsking: boolean): PlanningRuntime {
  let count = 0;
  const put = defineTool({
    id: 'put',
    title: 'Put',
    description: 'Puts a thing',
    input: v.object({ name: v.string() }),
    execute: ({ name }, { toolCallId }) => {
      const id = `${name}${world.standing.size + world.undone.length}.${++count} of ${toolCallId}`;
      world.standing.set(id, name);
      return { id };
    },
    undo: {
      describe: (_, { id }) => ({ quote: id }),
      execute: (_, { id }) => {
        world.undone.push(id);
        world.standing.delete(id);
      },
    },
  });
  return createRuntime(ports({
    catalog: staticCatalog({
      agents: [{ id: 'helper', name: 'Helper', providerId: 'test', entryTools: ['put'] }],
      providers: [{ id: 'test', kind: 'custom' }],
    }),
    models: { model: () => model },
    tools: [put],
    storage: world.storage,
    authorize: createRules(
      isAsking ? [{ effect: 'ask', actions: ['run.undo'], approvers: ['subject:bo'], fourEyes: true }] : [],
      { otherwise: 'allow' },
    ),
  }));
}

/** Runs, and takes all back; by another person, where a rule asks for one. What a lost instance has left is taken back later. */
async function drive({ send, runtime, phase }: SimulatedClient<PlanningRuntime>, world: World): Promise<void> {
  const { chat } = runRequest();
  const { runId } = await send(runRequest({ chat: { ...chat, store: true } }));
  if (runId === undefined) return;
  if (phase === 'retry') {
    await new Promise((resolve) => setTimeout(resolve, 700_000)); // the other instance is lost with its undo
    await runtime.sweep();
  }
  const reports = world.reports.get(runId) ?? [];
  world.reports.set(runId, reports);
  const taking = takeBack(runtime, { runId, reports });
  await (phase === 'first' ? taking.catch(() => undefined) : taking); // a fault; without one, something remains
}

async function takeBack(
  runtime: PlanningRuntime,
  { runId, reports }: { readonly runId: string; readonly reports: UndoReport[] },
): Promise<void> {
  const { digest } = await runtime.undo.preview(runId, {}, local);
  const report = await runtime.undo.run(runId, { digest }, local);
  reports.push(report);
  if (report.approvalId === undefined) return;
  const { items } = await runtime.inbox.list(bo, { kind: 'undo' });
  const mine = items.filter(({ id }) => id === report.approvalId).map(({ id, seen }) => ({ id, seen, approved: true }));
  if (mine.length === 0) return;
  for (const result of await runtime.inbox.decide(mine, bo)) {
    if (result.state === 'stored' && result.undo) reports.push(result.undo);
  }
}

const invariants: readonly Invariant<World>[] = [
  ({ world }) => new Set(world.undone).size < world.undone.length ? 'an undo has run twice' : undefined,
  ({ world }) =>
    [...world.reports.values()].flat().some(({ takenBack }) => !isSorted(takenBack.map(({ toolCallId }) => toolCallId)))
      ? 'not newest first'
      : undefined,
  // After the last report of each run: what stands is named, and what is named stands or is not known.
  ({ world, reference, faults }) => {
    if (faults.some(({ fault, step }) => fault === 'tool loses its answer' && /^tool\.put \d/.test(step))) return []; // it said that it failed
    const last = [...world.reports.values()].flatMap((reports) => reports.at(-1) ?? []);
    const named = last.flatMap(({ remains }) => remains);
    const unknown = named.filter(({ why = '' }) => ['outcome_unknown', 'undo_unknown', 'undo_failed'].includes(why));
    const silent = [...world.standing.keys()].filter((id) => !named.some(({ quote }) => quote === id));
    const calls = new Set(unknown.filter(({ quote }) => quote === undefined).map(({ toolCallId }) => toolCallId));
    const unnamed = silent.filter((id) => !calls.has(id.split(' of ')[1] ?? ''));
    const open = named.filter(({ can }) => can === 'yes');
    return [
      ...unnamed.length > 0 && last.length > 0 ? ['something stands that no report names'] : [],
      ...!reference && named.length > 0 ? ['without a fault something remains'] : [],
      ...open.length > 0 && !last.some(({ failed, approvalId }) => failed ?? approvalId)
        ? ['stopped without a reason']
        : [],
    ];
  },
];

function isSorted(ids: readonly string[]): boolean {
  return ids.every((id, at) => at === 0 || id <= (ids[at - 1] ?? ''));
}

const seeds = process.env['PINNACE_TEST'] === 'long' ? 1_000 : 30;

describe('an undo under faults', () => {
  it.each([['by its owner', false], ['by a person who must approve it', true]])(
    'takes back %s once each, newest first, and names what stands',
    { timeout: 600_000 },
    async (_, isAsking) => {
      const report = await simulate({
        world: ({ now }): World => ({
          storage: memoryStorage({ now }),
          standing: new Map(),
          undone: [],
          reports: new Map(),
        }),
        launch: (context) => launch(context, isAsking),
        drive,
        invariants,
        driveMs: 3_000_000,
        seeds,
      });
      expect(toText(report)).toMatch(/^Simulation passed/);
    },
  );
});
