import { BoundedMap } from '../../src/base/bounded-map.ts';
import { checkNames } from '../../src/base/check-options.ts';
import type { EventSink, ObservedEvent } from '../../src/contracts/event-sink.ts';
import { readSummary } from '../../src/events/payload-summary.ts';

export type { EventSink } from '../../src/contracts/event-sink.ts';

/** How the console shows events. */
export interface ConsoleSinkOptions {
  /**
   * `json`: each event as an object, for machines that collect logs. `text`: each event as a line for people. `runs`: a line for each
   * run when it ends, with its state, time, tokens and tools. `failed-runs`: of these, the runs that failed.
   */
  readonly format?: 'json' | 'text' | 'runs' | 'failed-runs';
  /** Takes one line; `console.log` when absent. */
  readonly write?: (line: string) => void;
}

/** Creates a sink that writes one line per event, or per run. */
export function consoleSink(options: ConsoleSinkOptions = {}): EventSink {
  checkNames('create the sink', options, { format: true, write: true });
  const { format = 'json', write = (line) => console.log(line) } = options;
  if (format === 'runs' || format === 'failed-runs') return writeRuns(write, format === 'failed-runs');
  return format === 'json' ? (event) => write(JSON.stringify(event)) : (event) => write(lineOf(event));
}

interface RunFigures {
  readonly tools: Map<string, { calls: number; failed: number }>;
  tokens: number;
  runId: string;
}

/** More open spans than a process can have: then ends were lost. */
const mostSpans = 10_000;

/** The figures of a run are found by the spans within it, each of which names its parent. */
function writeRuns(write: (line: string) => void, onlyFailed: boolean): EventSink {
  const open = new BoundedMap<string, RunFigures>(mostSpans);
  return (event) => {
    const { action, spanId = '', parentSpanId = '', status, target, payloadSummary } = event;
    if (status === 'pending') {
      const runId = String(readSummary(payloadSummary)['runId'] ?? '');
      const figures = action === 'run.start' ? { tools: new Map(), tokens: 0, runId } : open.get(parentSpanId);
      if (figures) open.set(spanId, figures);
      return;
    }
    const figures = open.get(spanId);
    if (!figures) return;
    open.delete(spanId);
    if (action === 'model.call') figures.tokens += Number(readSummary(payloadSummary)['totalTokens'] ?? 0);
    if (action === 'tool.call') {
      const { calls, failed } = figures.tools.get(target.id) ?? { calls: 0, failed: 0 };
      figures.tools.set(target.id, { calls: calls + 1, failed: failed + (status === 'error' ? 1 : 0) });
    }
    if (action === 'run.end' && (status === 'error' || !onlyFailed)) write(runLine(event, figures));
  };
}

/** `08:15:30 helper completed in 1.2 s, 187 tokens, add ×2, find_order (failed), run_4bf9…`. */
function runLine({ timestamp, target, latency, error, payloadSummary }: ObservedEvent, figures: RunFigures): string {
  const { state = 'ended' } = readSummary(payloadSummary);
  const reason = error?.details?.['reason'];
  const facts = [
    `${plain(target.id)} ${plain(String(state))} in ${(latency / 1000).toFixed(1)} s`,
    ...(error ? [`${error.code}${typeof reason === 'string' ? ` (${plain(reason)})` : ''}`] : []),
    `${figures.tokens.toLocaleString('en')} tokens`,
    ...[...figures.tools].map(([name, { calls, failed }]) =>
      `${plain(name)}${calls > 1 ? ` ×${calls}` : ''}${failed > 0 ? ` (${calls > 1 ? `${failed} ` : ''}failed)` : ''}`
    ),
    plain(figures.runId),
  ];
  return `${timestamp.slice(11, 19)} ${facts.join(', ')}`;
}

/** `08:15:30.120 ok        tool.call calculator, by helper, 12 ms (trace 4bf92f35)`. */
function lineOf(
  { timestamp, status, action, target, actor, latency, error, traceId, payloadSummary }: ObservedEvent,
): string {
  const facts = [
    `${action} ${plain(target.id)}`,
    `by ${plain(actor.id)}`,
    ...(latency > 0 ? [`${Math.round(latency)} ms`] : []),
    ...(error ? [error.code] : []),
    ...(payloadSummary === '' ? [] : [plain(payloadSummary)]),
  ];
  return `${timestamp.slice(11, 23)} ${status.padEnd(9)} ${facts.join(', ')} (trace ${traceId.slice(0, 8)})`;
}

/** Ids come from outside: they must neither break the line nor colour the terminal. */
function plain(text: string): string {
  return text.replace(/\p{C}/gu, '?').slice(0, 100);
}
