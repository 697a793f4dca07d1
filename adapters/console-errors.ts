import type { ErrorContext, OnError } from '../src/events/report.ts';
import { providerText } from './models/provider-text.ts';

export type { OnError } from '../src/events/report.ts';

/** Where the causes are printed. */
export interface ConsoleErrorsOptions {
  /** Takes one text of several lines; `console.error` when absent. */
  readonly write?: (text: string) => void;
}

/**
 * Creates an `onError` for development that prints each cause with where it happened, its stack, its own causes, and the
 * provider's message. Stacks and messages can contain secrets and prompts: do not use it where logs are stored.
 *
 * @example
 * const runtime = createRuntime({ catalog, models, storage, tools, onError: consoleErrors() });
 */
export function consoleErrors({ write = (text) => console.error(text) }: ConsoleErrorsOptions = {}): OnError {
  return (cause, context) => write(textOf(cause, context));
}

/** `tool "add" failed (step 1, run run_4bf9…, trace 4bf92f35)`, then the stack. */
function textOf(cause: unknown, context: ErrorContext): string {
  const said = providerText(cause);
  const lines = [headOf(context), ...(said === undefined ? [] : [`The provider said: ${said}`]), ...stacksOf(cause)];
  return lines.map((line, i) => i === 0 ? line : `  ${line.replaceAll('\n', '\n  ')}`).join('\n');
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

function stacksOf(cause: unknown): readonly string[] {
  const stacks: string[] = [];
  for (let one = cause; one !== undefined && stacks.length < mostCauses; one = causeOf(one)) {
    stacks.push(stacks.length === 0 ? stackOf(one) : `Caused by: ${stackOf(one)}`);
  }
  return stacks;
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}

/** Engines differ in whether a stack starts with the message. */
function stackOf(error: unknown): string {
  if (typeof error === 'string') return error;
  if (!(error instanceof Error)) return `${error === null ? 'null' : typeof error}, which is no error`;
  const head = `${error.name}: ${error.message}`;
  const { stack = '' } = error;
  return stack.includes(error.message) && stack.startsWith(error.name) ? stack : `${head}\n${stack}`.trimEnd();
}
