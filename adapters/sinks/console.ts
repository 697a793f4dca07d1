import { checkNames } from '../../src/base/check-options.ts';
import type { EventSink, ObservedEvent } from '../../src/contracts/event-sink.ts';

export type { EventSink } from '../../src/contracts/event-sink.ts';

/** How the console shows events. */
export interface ConsoleSinkOptions {
  /** `json`: one object a line, for machines that collect logs. `text`: one line for people. */
  readonly format?: 'json' | 'text';
  /** Takes one line; `console.log` when absent. */
  readonly write?: (line: string) => void;
}

/** Creates a sink that writes one line per event. */
export function consoleSink(options: ConsoleSinkOptions = {}): EventSink {
  checkNames('create the sink', options, { format: true, write: true });
  const { format = 'json', write = (line) => console.log(line) } = options;
  return format === 'json' ? (event) => write(JSON.stringify(event)) : (event) => write(lineOf(event));
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
