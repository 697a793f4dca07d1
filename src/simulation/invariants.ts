/** Checks a scenario: the built-in rules, then those of the app. */

import { PinnaceError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';
import type { ObservedEvent } from '../contracts/event-sink.ts';
import type { Storage } from '../contracts/storage.ts';
import { readPages } from '../log/commits.ts';
import type { ExecutedCall, Observed, SentRequest, SimulatedRuntime } from './client.ts';
import { readAll } from './faults.ts';
import { canary } from './instance.ts';
import type { Invariant, ScenarioOutcome } from './report.ts';
import { valueText } from './storage-check.ts';

interface CheckedScenario<W> {
  readonly outcome: ScenarioOutcome<W>;
  readonly observed: Observed;
  readonly invariants: readonly Invariant<W>[];
  /** The second instance, which still answers. */
  readonly runtime: SimulatedRuntime | undefined;
  readonly storages: ReadonlyMap<string, Storage>;
  readonly principals: ReadonlyMap<string, Principal>;
}

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

/** Returns what is wrong: nothing is done twice, and what was done has its outcome in the log. */
function actionProblems(outcome: ScenarioOutcome): readonly string[] {
  const acted = outcome.calls.filter(isOnce);
  return [
    ...[...Map.groupBy(acted, nameOf)].flatMap(([name, mine]) => {
      const most = Math.max(
        1,
        outcome.reference?.calls.filter((one) => isOnce(one) && nameOf(one) === name).length ?? Infinity,
      );
      return mine.length > most ? [`${name} is executed ${mine.length} times, not ${most}`] : [];
    }),
    ...reportProblems(outcome, acted),
  ];
}

/** Whether a call must not be repeated by the second instance. */
function isOnce({ acts, isRepeatable, phase }: ExecutedCall): boolean {
  return acts && !isRepeatable && phase !== 'after';
}

const nameOf = ({ tool, input }: ExecutedCall): string => `tool.${tool}(${input})`;

/** The second instance reads the log: where a client has left or a storage was away, the first answer is not all of it. */
function reportProblems({ first, retry }: ScenarioOutcome, acted: readonly ExecutedCall[]): readonly string[] {
  const logged = new Set(retry.filter(({ ended }) => !/^(refused|left|open)/.test(ended)).map(({ runId }) => runId));
  if (first.some(({ runId }) => runId !== undefined && !logged.has(runId))) return [];
  const withIds = acted.filter(({ toolCallId }) => toolCallId !== '');
  return [...Map.groupBy(withIds, ({ toolCallId }) => toolCallId)].flatMap(([id, calls]) => {
    const [{ tool }] = calls as [ExecutedCall]; // a group has a member
    const outcomes = retry.filter(({ chunks }) => hasOutcome(chunks, id));
    const canceled = outcomes.filter(({ chunks }) => isCanceled(chunks, id));
    if (outcomes.length < calls.length) return [`${tool} is executed, and the log has no outcome of its call`];
    return outcomes.length - canceled.length < calls.length ? [`${tool} is executed, and reported as canceled`] : [];
  });
}

function hasOutcome(chunks: SentRequest['chunks'], id: string): boolean {
  return chunks.some((chunk) =>
    /^tool-output-(available|error|denied)$/.test(chunk.type) && 'toolCallId' in chunk && chunk.toolCallId === id
  );
}

function isCanceled(chunks: SentRequest['chunks'], id: string): boolean {
  return chunks.some((chunk) => {
    if (chunk.type !== 'data-tool-error') return false;
    const { toolCallId, code } = chunk.data as { readonly toolCallId?: string; readonly code?: string }; // the runtime's own data
    return toolCallId === id && code === 'cancelled';
  });
}

const terminal: ReadonlySet<string> = new Set(['finish', 'abort', 'error']);

/** Returns what is wrong with how requests ended: each has one end, and it is the last chunk. */
function endProblems({ first, retry, after, isKilled, isLasting }: ScenarioOutcome): readonly string[] {
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
function replayProblems({ first, retry, faults }: ScenarioOutcome): readonly string[] {
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
function recoveryProblems({ after, reference, isKilled }: ScenarioOutcome): readonly string[] {
  if (!reference || isKilled) return [];
  const [mine, expected] = [after, reference.after].map((requests) => requests.map(({ ended }) => ended).join(', '));
  return mine === expected
    ? []
    : [`after the fault, requests end with: ${mine || 'nothing'}; expected: ${expected || 'nothing'}`];
}

/** Returns what is wrong with the events of all instances. */
function spanProblems({ events, isKilled }: ScenarioOutcome): readonly string[] {
  if (isKilled) return [];
  // A plan goes on without the run that started it, and a run that an instance continues without what the one before could not record.
  const goesOn = events.some(({ action }) => action.startsWith('plan.') || action === 'run.recover');
  return eventProblems(events).map((problem) => `event ${problem.replace(/^\d+ /, '')}`).filter((problem) =>
    // A clock may jump; a plan goes on without the run that started it; two instances may both find that a run is lost.
    !problem.includes('before its parent') && !(goesOn && problem.includes('outlives')) &&
    !problem.includes('run.end: ends twice')
  );
}

/** Returns what is wrong with events: spans that begin twice, end twice or never, end before they begin or outlive their parents. */
export function eventProblems(events: readonly ObservedEvent[]): string[] {
  const problems: string[] = [];
  const spans = new Map<string, { readonly event: ObservedEvent; readonly begin: number; end?: number }>();
  for (const [at, event] of events.entries()) {
    const { spanId, status, action } = event;
    if (spanId === undefined) {
      if (status === 'pending') problems.push(`${at} ${action}: pending without a span`);
      continue;
    }
    const span = spans.get(spanId);
    if (status === 'pending') {
      if (span) problems.push(`${at} ${action}: begins twice`);
      else spans.set(spanId, { event, begin: at });
    } else if (!span) problems.push(`${at} ${action}: ends before it begins`);
    else if (span.end !== undefined) problems.push(`${at} ${action}: ends twice`);
    else span.end = at;
    if (event.latency < 0) problems.push(`${at} ${action}: takes less than no time`);
  }
  for (const { event: { action, parentSpanId, traceId, timestamp }, begin, end } of spans.values()) {
    if (end === undefined) problems.push(`${begin} ${action}: never ends`);
    const parent = spans.get(parentSpanId ?? '');
    if (!parent) continue;
    if (parent.begin > begin || (parent.end ?? Infinity) < (end ?? Infinity)) {
      problems.push(`${begin} ${action}: outlives its parent`);
    }
    if (parent.event.traceId !== traceId) problems.push(`${begin} ${action}: is in another trace than its parent`);
    if (parent.event.timestamp > timestamp) problems.push(`${begin} ${action}: begins before its parent`);
  }
  return problems;
}

/** Shorter values occur by chance. */
const shortestSecret = 8;

/** Returns the places where a secret or the canary comes out. */
function leaksIn(places: Readonly<Record<string, string>>, secrets: ReadonlySet<string>): readonly string[] {
  const values = [...secrets].filter(({ length }) => length >= shortestSecret);
  return Object.entries(places).flatMap(([place, text]) => [
    ...(values.some((value) => text.includes(value)) ? [`a secret is in ${place}`] : []),
    ...(text.includes(canary) ? [`the text of a fault is in ${place}`] : []),
  ]);
}

/** Returns the text of what a client has received. */
function textOfRequests(requests: readonly SentRequest[]): string {
  return requests.map(({ chunks, error }) => JSON.stringify(chunks) + textOfError(error)).join('\n');
}

function textOfError(error: unknown): string {
  return error instanceof Error
    ? `${error.name}: ${error.message} ${JSON.stringify(error)}`
    : JSON.stringify(error) ?? '';
}

/** Returns all that the storages hold. */
async function textOfStorages(storages: ReadonlyMap<string, Storage>): Promise<string> {
  const texts: string[] = [];
  for (const storage of storages.values()) {
    for await (const entries of readPages(storage, { prefix: [], limit: 1000 })) {
      texts.push(...entries.map(({ key, value }) => `${valueText(key)} ${valueText(value)}`));
    }
  }
  return texts.join('\n');
}
