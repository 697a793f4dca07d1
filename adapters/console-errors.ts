import { BoundedMap } from '../src/base/bounded-map.ts';
import { checkNames, optional } from '../src/base/check-options.ts';
import type { ErrorContext, OnError } from '../src/events/report.ts';
import { PinnaceError } from '../src/base/errors.ts';
import { providerText } from './models/provider-text.ts';
import { withoutKeys } from './models/without-keys.ts';

export type { OnError } from '../src/events/report.ts';

/** Where the causes are printed. */
export interface ConsoleErrorsOptions {
  /** Takes one text of several lines; `console.error` when absent. */
  readonly write?: (text: string) => void;
  /**
   * `full`: the stacks and messages of the error and of its causes, which is the default. `brief`: their messages without keys, and
   * where they were thrown, in three lines. `line`: what failed, and the code or name of the error, in one line without a message that
   * your code or another host has written. `brief` and `line` print the same cause outside a run once in 30 seconds, and then how
   * often it was there.
   */
  readonly detail?: 'full' | 'brief' | 'line';
}

/**
 * Creates an `onError` that prints each cause with where it happened, its stack, its own causes, and the provider's message. Stacks and
 * messages can contain secrets and prompts: where logs are stored, use the detail `line`, as endpoints in production do by default.
 *
 * @example
 * const runtime = createRuntime({ catalog, models, storage, tools, onError: consoleErrors() });
 */
export function consoleErrors(
  options: ConsoleErrorsOptions = {},
): OnError {
  checkNames('print errors', options, optional('write', 'detail'));
  const { write = (text) => console.error(text), detail = 'full' } = options;
  const linesOf = { full: fullLines, brief: briefLines, line: () => [] }[detail];
  const repeats = new BoundedMap<string, { readonly since: number; count: number }>(100);
  return (cause, context) => {
    let more = '';
    if (detail !== 'full' && context.runId === undefined) {
      const place = context.kind === 'storage' ? '' : context.id; // one that is away fails each of its methods
      const name = `${context.kind} ${place} ${causesOf(cause).map(briefOf).join()}`;
      const before = repeats.get(name);
      if (before && Date.now() - before.since < repeatMs) {
        before.count++;
        return;
      }
      if (before && before.count > 0) {
        more = ` (and ${before.count} times more since ${new Date(before.since).toISOString()})`;
      }
      repeats.set(name, { since: Date.now(), count: 0 });
    }
    const head = (detail === 'line' ? `${headOf(context)}: ${labelOf(cause)}` : headOf(context)) + more;
    const lines = linesOf(cause).map((line) => `  ${line.replace(oddInLines, '?').replaceAll('\n', '\n  ')}`);
    write([head.replace(/\p{C}/gu, '?'), ...lines].join('\n'));
  };
}

/** Texts of errors come from outside as well: they must neither steer the terminal nor look like another line. */
const oddInLines = /[^\P{C}\n\t]/gu;

/** A database that is away fails every read: the same cause outside a run is printed once in this time, and then with how often. */
const repeatMs = 30_000;

function fullLines(cause: unknown): readonly string[] {
  return [...providerLines(cause), ...causesOf(cause).map((one, i) => (i === 0 ? '' : 'Caused by: ') + stackOf(one))];
}

/** An error's text may quote a body of many lines. */
const longestMessage = 300;
const mostFrames = 3;

/** What the provider said contains the message of its error, without the request. */
function briefLines(cause: unknown): readonly string[] {
  const said = providerLines(cause);
  const messages = said.length > 0
    ? said
    : causesOf(cause).map((one, i) => (i === 0 ? '' : 'Caused by: ') + briefOf(one));
  const stack = cause instanceof Error ? cause.stack ?? '' : '';
  const frames = stack.split('\n').filter((line) => /^\s+at |@.*:\d+:\d+$/.test(line)).slice(0, mostFrames);
  return [...messages, ...frames.map((frame) => `  ${frame.trim()}`)];
}

function providerLines(cause: unknown): readonly string[] {
  const said = providerText(cause);
  return said === undefined ? [] : [`The provider said: ${said}`];
}

function briefOf(error: unknown): string {
  const text = error instanceof Error
    ? `${error.name}: ${error.message}`
    : typeof error === 'string'
    ? error
    : kindOf(error);
  return withoutKeys(text).replace(/\p{C}+/gu, ' ').slice(0, longestMessage);
}

/** The message of a `PinnaceError` quotes no body and no secret. */
function labelOf(error: unknown): string {
  if (error instanceof PinnaceError) return `${error.code}, ${error.message}`;
  return error instanceof Error ? error.name : kindOf(error);
}

function headOf({ kind, id, step, attempt, runId, planId, traceId }: ErrorContext): string {
  const facts = [
    step !== undefined && `step ${step}`,
    attempt !== undefined && `attempt ${attempt}`,
    runId !== undefined && `run ${runId}`,
    planId !== undefined && `plan ${planId}`,
    traceId !== undefined && `trace ${traceId.slice(0, 8)}`,
  ].filter((fact) => fact !== false);
  const place = facts.length === 0 ? '' : ` (${facts.join(', ')})`;
  return `${kind}${id === undefined ? '' : ` ${JSON.stringify(id)}`} failed${place}`;
}

/** The most causes of causes that are printed. */
const mostCauses = 5;

function causesOf(cause: unknown): readonly unknown[] {
  const causes: unknown[] = [];
  for (let one = cause; one !== undefined && causes.length < mostCauses; one = causeOf(one)) causes.push(one);
  return causes;
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}

/** Engines differ in whether a stack starts with the message. */
function stackOf(error: unknown): string {
  if (typeof error === 'string') return error;
  if (!(error instanceof Error)) return kindOf(error);
  const head = `${error.name}: ${error.message}`;
  const { stack = '' } = error;
  return stack.includes(error.message) && stack.startsWith(error.name) ? stack : `${head}\n${stack}`.trimEnd();
}

function kindOf(thrown: unknown): string {
  return `${thrown === null ? 'null' : typeof thrown}, which is no error`;
}
