/** The checks of every scenario. */

import { PinnaceError } from '../../base/errors.ts';
import type { ScenarioOutcome } from '../outcome.ts';
import type { SentRequest } from '../records.ts';
import { eventProblems } from './event-problems.ts';

const terminal: ReadonlySet<string> = new Set(['finish', 'abort', 'error']);

/** Returns what is wrong with how requests ended: each has one end, and it is the last chunk. */
export function endProblems({ first, retry, after, isKilled, isLasting }: ScenarioOutcome): readonly string[] {
  const open = [...isKilled ? [] : first, ...retry, ...after].filter(({ ended }) => ended === 'open');
  return [
    ...(open.length > 0 ? ['a request has no end'] : []),
    ...[...first, ...retry, ...after].flatMap(problemsOfRequest),
    ...(isKilled || isLasting ? [] : [...first, ...retry, ...after]).flatMap(({ ended }) =>
      ended.endsWith('worker_lost') ? ['a run is lost, though its instance lives'] : []
    ),
  ];
}

function problemsOfRequest({ ended, chunks, error }: SentRequest): readonly string[] {
  const problems: string[] = [];
  if (error !== undefined && !(error instanceof PinnaceError)) {
    problems.push('a request is rejected with no PinnaceError');
  }
  if (ended.startsWith('refused') && chunks.length > 0) problems.push('a stream breaks off with an error');
  if (/^(refused|left|open)/.test(ended)) return problems;
  const ends = chunks.filter(({ type }) => terminal.has(type));
  if (ends.length !== 1) problems.push(`a stream has ${ends.length} ends`);
  else if (chunks.at(-1) !== ends[0]) problems.push('a stream goes on after its end');
  return problems;
}

const isWhole = (ended: string): boolean => !/^(refused|left|open)/.test(ended);

/** Returns what differs between an answer and the same answer from another instance. */
export function replayProblems({ first, retry, faults }: ScenarioOutcome): readonly string[] {
  if (faults.some(({ step }) => step.startsWith('storage'))) return []; // the first reader may have seen less than was written
  return first.flatMap(({ key, ended, chunks }) => {
    const again = retry.find((one) => one.key === key);
    if (!isWhole(ended) || !again) return [];
    return JSON.stringify(lasting(again.chunks)) === JSON.stringify(lasting(chunks))
      ? []
      : ['the answer of another instance differs'];
  });
}

/** Transient chunks are not recorded. */
function lasting(chunks: SentRequest['chunks']): SentRequest['chunks'] {
  return chunks.filter((chunk) => !('transient' in chunk && chunk.transient));
}

/** Returns what is wrong with the requests after the fault: they end as they do without one. */
export function recoveryProblems({ after, reference, isKilled }: ScenarioOutcome): readonly string[] {
  if (!reference || isKilled) return [];
  const [mine, expected] = [after, reference.after].map((requests) => requests.map(({ ended }) => ended).join(', '));
  return mine === expected
    ? []
    : [`after the fault, requests end with: ${mine || 'nothing'}; expected: ${expected || 'nothing'}`];
}

/** Returns what is wrong with the events of all instances. */
export function spanProblems({ events, isKilled }: ScenarioOutcome): readonly string[] {
  if (isKilled) return [];
  const hasPlans = events.some(({ action }) => action.startsWith('plan.'));
  return eventProblems(events).map((problem) => `event ${problem.replace(/^\d+ /, '')}`).filter((problem) =>
    // A clock may jump; a plan goes on without the run that started it; two instances may both find that a run is lost.
    !problem.includes('before its parent') && !(hasPlans && problem.includes('outlives')) &&
    !problem.includes('run.end: ends twice')
  );
}
