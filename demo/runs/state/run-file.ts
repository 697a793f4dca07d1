/** A run as a file: written for a person to store or send, and parsed as untrusted input. */

import * as v from 'valibot';
import { PinnaceError } from '../../../src/base/errors.ts';
import { parseJson } from '../../../src/base/json.ts';
import { parse } from '../../../src/base/parse.ts';
import type { Prompt, RunRecord } from '../../control/runs-control.ts';

export interface RunFile extends RunRecord {
  /** Present where the person wanted them in it. */
  readonly prompts?: readonly Prompt[] | undefined;
}

/** The largest file that is read, in bytes. */
export const maxFileBytes = 16 * 1024 * 1024;
const maxEvents = 20_000;

const text = (most: number) => v.pipe(v.string(), v.maxLength(most));
const upTo = (most: number) => v.pipe(v.number(), v.minValue(0), v.maxValue(most, `must be at most ${most}`));
const count = upTo(1e12);
/** The last moment that a date can be, in milliseconds since 1970. */
const moment = upTo(8.64e15);
const status = v.picklist(['pending', 'ok', 'error', 'denied', 'cancelled']);
const named = v.object({ type: text(200), id: text(500) });

const FiledError = v.object({
  code: text(100),
  message: text(2000),
  retryable: v.boolean(),
  retryAfterMs: v.exactOptional(count),
  details: v.exactOptional(v.record(text(200), v.unknown())),
});

const FiledEvent = v.object({
  timestamp: v.pipe(
    text(40),
    v.check((time) => !Number.isNaN(Date.parse(time)), 'must be a time, as 2026-11-20T10:00:00.000Z'),
  ),
  traceId: text(64),
  spanId: v.exactOptional(text(64)),
  parentSpanId: v.exactOptional(text(64)),
  actor: v.object({ type: v.picklist(['agent', 'user', 'system']), id: text(500) }),
  action: text(200),
  target: named,
  status,
  latency: count,
  error: v.nullable(FiledError),
  payloadSummary: text(1000),
});

const FiledHead = v.object({
  traceId: text(64),
  runId: text(200),
  agentId: text(200),
  planId: v.exactOptional(text(200)),
  forkOf: v.exactOptional(text(200)),
  question: v.exactOptional(text(1000)),
  startedAt: moment,
  status,
  end: v.exactOptional(text(100)),
  isInterrupted: v.exactOptional(v.boolean()),
  durationMs: v.exactOptional(count),
  events: count,
  dropped: count,
  modelCalls: count,
  toolCalls: count,
  tokens: count,
  failures: count,
});

const FiledPart = v.variant('type', [
  v.object({ type: v.picklist(['text', 'reasoning']), text: v.string() }),
  v.object({ type: v.literal('call'), tool: text(500), toolCallId: text(500), input: v.unknown() }),
  v.object({ type: v.literal('result'), tool: text(500), toolCallId: text(500), output: v.unknown() }),
  v.object({ type: v.literal('file'), mediaType: text(500) }),
  v.object({ type: v.literal('other'), value: v.unknown() }),
]);

const FiledPrompt = v.object({
  spanId: text(64),
  model: text(500),
  messages: v.array(
    v.object({ role: v.picklist(['system', 'user', 'assistant', 'tool']), parts: v.array(FiledPart) }),
  ),
  tools: v.array(v.object({ name: text(500), description: v.string(), input: v.unknown() })),
  settings: v.record(text(200), v.unknown()),
});

const Filed = v.object({
  format: v.literal('pinnace-run', 'must be "pinnace-run"'),
  version: v.literal(1, 'must be 1, the version that this page reads'),
  head: FiledHead,
  events: v.pipe(v.array(FiledEvent), v.maxLength(maxEvents)),
  tools: v.exactOptional(
    v.object({
      digest: text(200),
      tools: v.pipe(v.array(v.object({ id: text(500), excluded: v.exactOptional(text(200)) })), v.maxLength(maxEvents)),
    }),
  ),
  prompts: v.exactOptional(v.pipe(v.array(FiledPrompt), v.maxLength(1000))),
});

/** Writes the file's text. */
export function writeRunFile({ head, events, tools, prompts }: RunFile): string {
  return `${JSON.stringify({ format: 'pinnace-run', version: 1, head, events, tools, prompts }, null, 1)}\n`;
}

export function nameOfFile({ agentId, startedAt }: RunFile['head']): string {
  const time = new Date(startedAt).toISOString().slice(0, 19).replaceAll(':', '-');
  return `run-${agentId.replaceAll(/[^\w-]/g, '_').slice(0, 60)}-${time}.json`;
}

/**
 * Reads a file. What it holds beyond what is known here is dropped.
 *
 * @throws PinnaceError `invalid_argument` that says what is wrong: too large, not JSON, or which part is not as it must be.
 */
export async function readRunFile(file: Blob): Promise<RunFile> {
  if (file.size > maxFileBytes) {
    throw new PinnaceError('invalid_argument', `Cannot open the file: it is larger than ${maxFileBytes / 2 ** 20} MB`, {
      details: { reason: 'file_too_large' },
    });
  }
  const { format: _, version: __, ...run } = parse(Filed, parseJson(await file.text()), { what: 'the file' });
  return run;
}
