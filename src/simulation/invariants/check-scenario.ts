/** Checks a scenario: the built-in rules, then those of the app. */

import type { Principal } from '../../base/principal.ts';
import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import type { SimulatedRuntime } from '../client.ts';
import type { Invariant, ScenarioOutcome } from '../outcome.ts';
import type { Observed, SentRequest } from '../records.ts';
import { readAll } from '../streams.ts';
import type { Storage } from '../../contracts/storage.ts';
import { actionProblems } from './actions.ts';
import { endProblems, recoveryProblems, replayProblems, spanProblems } from './built-in.ts';
import { leaksIn, textOfRequests, textOfStorages } from './leaks.ts';

/** What is checked. */
export interface CheckedScenario<W> {
  readonly outcome: ScenarioOutcome<W>;
  readonly observed: Observed;
  readonly invariants: readonly Invariant<W>[];
  /** The second instance, which still answers. */
  readonly runtime: SimulatedRuntime | undefined;
  readonly storages: ReadonlyMap<string, Storage>;
  readonly principals: ReadonlyMap<string, Principal>;
}

/** Returns what is wrong. */
export async function checkScenario<W>(given: CheckedScenario<W>): Promise<readonly string[]> {
  const { outcome, observed, storages, invariants } = given;
  const places = {
    'the answer of a request': textOfRequests([...outcome.first, ...outcome.retry, ...outcome.after]),
    'an event': JSON.stringify(observed.events),
    'a prompt': observed.prompts.join('\n'),
    'a storage': await textOfStorages(storages),
  };
  const own: string[] = [];
  for (const invariant of invariants) own.push(...[await invariant(outcome) ?? []].flat());
  return [
    ...endProblems(outcome),
    ...actionProblems(outcome),
    ...replayProblems(outcome),
    ...await resumeProblems(given),
    ...recoveryProblems(outcome),
    ...spanProblems(outcome),
    ...leaksIn(places, observed.secrets),
    ...[...observed.storages.values()].flatMap(({ problems }) => [...problems].slice(0, 5)),
    ...own,
  ];
}

/** A run that is read from its middle has the chunks that follow there. */
async function resumeProblems<W>({ outcome, runtime, principals }: CheckedScenario<W>): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const request of outcome.retry) {
    const principal = principals.get(request.runId ?? '');
    if (!runtime || !principal || request.runId === undefined || /^(refused|left|open)/.test(request.ended)) continue;
    if (!await isResumed(request, { runtime, principal, runId: request.runId })) {
      problems.push('a resumed stream differs from the log');
    }
  }
  return problems;
}

async function isResumed(
  { chunks }: SentRequest,
  { runtime, principal, runId }: { runtime: SimulatedRuntime; principal: Principal; runId: string },
): Promise<boolean> {
  const after = Math.floor(chunks.length / 2);
  try {
    const rest: readonly UIMessageChunk[] = await readAll(await runtime.resume(runId, after, { principal }));
    return JSON.stringify(rest) === JSON.stringify(chunks.slice(after));
  } catch {
    return false; // whatever the error, a whole run can be resumed
  }
}
