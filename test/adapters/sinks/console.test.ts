import { describe, expect, it } from 'vitest';
import { consoleSink } from '../../../adapters/sinks/console.ts';
import type { ObservedEvent } from '../../../src/index.ts';

const event: ObservedEvent = {
  timestamp: '2026-11-21T08:15:30.120Z',
  traceId: `4bf92f35${'0'.repeat(24)}`,
  actor: { type: 'agent', id: 'helper' },
  action: 'tool.call',
  target: { type: 'tool', id: 'calculator' },
  status: 'error',
  latency: 12.4,
  error: { code: 'not_found', message: 'Not found', retryable: false },
  payloadSummary: '',
};

describe('consoleSink', () => {
  it('writes one JSON object a line', () => {
    const lines: string[] = [];
    consoleSink({ write: (line) => lines.push(line) })(event);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([event]);
  });

  it('writes lines for people', () => {
    const lines: string[] = [];
    const sink = consoleSink({ format: 'text', write: (line) => lines.push(line) });
    sink(event);
    sink({ ...event, status: 'ok', error: null, latency: 0, payloadSummary: '2 parts' });
    expect(lines).toEqual([
      '08:15:30.120 error     tool.call calculator, by helper, 12 ms, not_found (trace 4bf92f35)',
      '08:15:30.120 ok        tool.call calculator, by helper, 2 parts (trace 4bf92f35)',
    ]);
  });

  it('keeps a hostile id on its line', () => {
    const lines: string[] = [];
    const target = { type: 'tool', id: 'a\n\u001b[31mb' };
    consoleSink({ format: 'text', write: (line) => lines.push(line) })({ ...event, target });
    expect(lines[0]).toContain('a??[31mb');
  });
});
