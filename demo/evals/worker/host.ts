/** Test cases in the page's worker: stored in the browser, and run in a runtime of their own. */

import { browserEgress } from '../../../adapters/egress/browser.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { PinnaceError, toData } from '../../../src/base/errors.ts';
import { localPrincipal } from '../../../src/base/principal.ts';
import type { Agent } from '../../../src/base/schema.ts';
import type { Catalog } from '../../../src/contracts/catalog.ts';
import type { Egress } from '../../../src/contracts/egress.ts';
import type { ModelSource } from '../../../src/contracts/model-source.ts';
import type { Storage } from '../../../src/contracts/storage.ts';
import { createRuntime, type CreateRuntimeOptions } from '../../../src/create-runtime.ts';
import {
  type CaseReport,
  checks,
  datasetOf,
  type EvalCase,
  type EvalReport,
  evaluate,
  recorded,
  storageTape,
  toJsonLines,
} from '../../../src/evals/index.ts';
import type { HostedRuntime } from '../../../src/runtime/runtime.ts';
import { readPages, removeKeys } from '../../../src/log/commits.ts';
import type { Answered, CaseHead, EvalsControl, EvalSetting, StoredReport } from '../../control/evals-control.ts';

/** What cases are run with. */
export interface EvalsHostOptions {
  readonly storage: Storage;
  /** The runtime whose runs become cases. */
  readonly runtime: () => Pick<HostedRuntime, 'recorded'>;
  readonly catalog: Catalog;
  readonly models: (egress: Egress) => ModelSource;
  /** The rest of the composition. */
  readonly parts: () => Omit<CreateRuntimeOptions, 'catalog' | 'models' | 'storage'>;
  readonly now?: () => number;
}

/** Older reports are removed. */
const maxReports = 20;
const tapeName = 'playground';

/** Creates the host. It reads and writes nothing before the first call. */
export function createEvalsHost(options: EvalsHostOptions): EvalsControl {
  const { storage, runtime, now = Date.now } = options;
  const tape = storageTape(storage, tapeName);
  const cases = () => readAll<EvalCase>(storage, ['evals', 'case']);
  const reports = async () => (await readAll<StoredReport>(storage, ['evals', 'report'])).toReversed();
  const all = async () => ({ cases: (await cases()).map(headOf), reports: await reports() });
  return {
    list: () => answer(all),
    add: (runId) =>
      answer(async () => {
        const found = await datasetOf(runtime(), { runIds: [runId] }, localPrincipal());
        if (found.skipped) throw tooLarge();
        for (const one of found) await storage.commit([{ key: ['evals', 'case', one.id], value: one }]);
        return await all();
      }),
    remove: (id) =>
      answer(async () => {
        await storage.commit([{ key: ['evals', 'case', id] }]);
        return await all();
      }),
    run: (setting) =>
      answer(async () => {
        const models = recorded(tape, { mode: setting.answers, models: options.models(browserEgress()) });
        const done: Evaluated[] = [];
        for (const one of await cases()) done.push(await runCase(one, { ...options, setting, models }));
        await keep(storage, { at: now(), setting, revisions: revisionsOf(done), report: reportOf(done) });
        return await all();
      }),
    files: () =>
      answer(async () => ({
        cases: toJsonLines(await cases()),
        tape: toJsonLines(await readAll(storage, ['tape', tapeName])),
      })),
  };
}

/** A case that was run, by this agent. */
interface Evaluated {
  readonly report: EvalReport;
  readonly agent: Agent | undefined;
}

interface Running extends Pick<EvalsHostOptions, 'catalog' | 'parts'> {
  readonly setting: EvalSetting;
  readonly models: ModelSource;
}

/** Each case has a runtime of its own: two cases may have been recorded with two revisions of an agent. */
async function runCase(one: EvalCase, { setting, models, catalog, parts }: Running): Promise<Evaluated> {
  const today = setting.agent === 'current' ? await catalog.agent(one.request.agentId) : one.agent;
  const agent = today && withModel(today, setting);
  const overlay: Catalog = {
    ...catalog,
    agent: async (id, signal) => id === one.request.agentId ? agent : await catalog.agent(id, signal),
  };
  const report = await evaluate({
    cases: [one],
    models,
    subject: {
      createRuntime: (given) =>
        createRuntime({ models, ...parts(), ...given, catalog: overlay, storage: memoryStorage() }),
    },
    checks: [(run) => checks.state(one.expected.state)(run), checks.sameCalls()],
  });
  return { report, agent };
}

function withModel(agent: Agent, { model }: EvalSetting): Agent {
  if (!model) return agent;
  const { model: _, ...rest } = agent;
  const { providerId, modelId } = model;
  return { ...rest, providerId, fallbacks: [], ...(modelId !== undefined && { model: modelId }) };
}

function reportOf(done: readonly Evaluated[]): EvalReport {
  const sum = (name: 'passed' | 'failed' | 'misses'): number => done.reduce((all, { report }) => all + report[name], 0);
  const found = done.flatMap(({ report }): readonly CaseReport[] => report.cases);
  return { v: 1, cases: found, passed: sum('passed'), failed: sum('failed'), misses: sum('misses') };
}

function revisionsOf(done: readonly Evaluated[]): Readonly<Record<string, number>> {
  return Object.fromEntries(done.flatMap(({ agent }) => agent ? [[agent.id, agent.revision]] : []));
}

async function keep(storage: Storage, report: StoredReport): Promise<void> {
  await storage.commit([{ key: ['evals', 'report', report.at], value: report }]);
  const stored = await readEntries(storage, ['evals', 'report']);
  await removeKeys(storage, stored.slice(0, -maxReports).map(({ key }) => key));
}

function headOf({ id, agent, request, expected }: EvalCase): CaseHead {
  const message = request.chat.messages.findLast(({ role }) => role === 'user');
  const text = message?.parts.flatMap((part) => part.type === 'text' ? [part.text] : []).join('\n') ?? '';
  return { id, agentId: agent.id, revision: agent.revision, message: text, expected };
}

async function readEntries(storage: Storage, prefix: readonly string[]) {
  return (await Array.fromAsync(readPages(storage, { prefix, limit: 100 }))).flat();
}

async function readAll<T>(storage: Storage, prefix: readonly string[]): Promise<T[]> {
  return (await readEntries(storage, prefix)).map(({ value }) => value as T); // only this file and the tape write there
}

async function answer<T>(work: () => Promise<T>): Promise<Answered<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, error: toData(error) };
  }
}

function tooLarge(): PinnaceError {
  return new PinnaceError('invalid_argument', 'Cannot save the run as a test case: it is larger than 1 MiB');
}
