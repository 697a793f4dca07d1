import type { EventSink } from '../../src/ports.ts';

/** Gives a sink that writes one JSON object a line, for machines that collect logs. */
export function consoleSink({ write = (line: string): void => console.log(line) } = {}): EventSink {
  return (event) => write(JSON.stringify(event));
}
