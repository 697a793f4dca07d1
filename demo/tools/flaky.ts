/** A tool that fails on request, so that people can see what a runtime makes of failures. */

import * as v from 'valibot';
import { defineTool, PinnaceError, type Tool, type ToolContext } from '../../src/index.ts';

/** Options of {@link flakyTool}. */
export interface FlakyOptions {
  /** How long the mode "slow" takes. */
  readonly slowMs?: number;
}

const Input = v.strictObject({
  mode: v.pipe(
    v.picklist(['ok', 'error', 'slow', 'secret_error', 'huge', 'not_json']),
    v.description(
      'How to behave. "ok": answer; "error": fail; "slow": answer late; "secret_error": fail with a text that holds a made-up ' +
        'password, which must stay secret; "huge": answer with far too much; "not_json": answer with what is not JSON',
    ),
  ),
  times: v.optional(v.pipe(
    v.number(),
    v.integer(),
    v.minValue(1),
    v.maxValue(100),
    v.description('Misbehave in this mode so many times, then answer normally. Left out: misbehave always'),
  )),
});
type Mode = v.InferOutput<typeof Input>['mode'];

/** A fake secret that must never appear outside the tool. */
export const flakySecret = 'pa55word-that-opens-nothing';

const allIsWell = { mode: 'ok', text: 'All is well' };

/** Returns the tool `flaky`. How often it has failed is remembered for each tenant, as long as this object lives. */
export function flakyTool({ slowMs = 5_000 }: FlakyOptions = {}): Tool {
  const failures = createCounter();
  return defineTool({
    id: 'flaky',
    title: 'Flaky test tool',
    description:
      'Fails on purpose, to test how failures are handled: a flaky tool that misbehaves on request. Modes: ok, error, slow, ' +
      'secret_error, huge, not_json. Use it only when someone wants to see how a failing tool is handled.',
    category: 'test',
    keywords: ['fail', 'failure', 'crash', 'timeout', 'retry', 'test', 'drill'],
    annotations: { readOnlyHint: true, idempotentHint: false, openWorldHint: false },
    input: Input,
    execute({ mode, times }, context) {
      if (mode === 'ok') return allIsWell;
      const key = `${context.principal.tenant} ${mode} ${times}`;
      const attempt = times === undefined ? 'always' : failures.next(key, times);
      if (attempt === undefined) return allIsWell;
      context.log(`Misbehaving as requested: ${mode} (${attempt})`, 'warn');
      return misbehave(mode, { context, slowMs });
    },
  });
}

function misbehave(mode: Exclude<Mode, 'ok'>, { context, slowMs }: { context: ToolContext; slowMs: number }): unknown {
  switch (mode) {
    case 'error':
      throw new PinnaceError('unavailable', 'The flaky tool failed, as requested');
    case 'secret_error':
      throw new Error(`Login with ${flakySecret} was refused`);
    case 'slow':
      return answerLate(context.signal, slowMs);
    case 'huge':
      return { mode, text: 'All is too much. '.repeat(100_000) };
    case 'not_json':
      return { mode, text: 'Not for JSON', value: 2n ** 64n };
    default:
      return mode satisfies never;
  }
}

function answerLate(signal: AbortSignal, slowMs: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve({ mode: 'slow', text: `All is well, ${slowMs} ms late` }), slowMs);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason as Error); // safe: the runtime aborts with errors only
    }, { once: true });
  });
}

const mostKeys = 1_000;

interface Counter {
  /** Returns 1, 2, … up to the limit, then `undefined` once. */
  next(key: string, limit: number): number | undefined;
}

function createCounter(): Counter {
  const counts = new Map<string, number>();
  return {
    next(key, limit) {
      if (counts.size > mostKeys) counts.clear();
      const count = (counts.get(key) ?? 0) + 1;
      if (count <= limit) counts.set(key, count);
      else counts.delete(key);
      return count <= limit ? count : undefined;
    },
  };
}
