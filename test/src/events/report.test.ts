import { describe, expect, it } from 'vitest';
import { createReport, type ErrorKind } from '../../../src/events/report.ts';

function recorded() {
  const passed: [ErrorKind, unknown][] = [];
  return { passed, report: createReport((cause, { kind }) => void passed.push([kind, cause])) };
}

describe('createReport', () => {
  it('passes on the same text again where another part that calls code of the composition receives it', () => {
    const { passed, report } = recorded();
    report('out of order', { kind: 'tool' });
    report('out of order', { kind: 'hook' });
    report('out of order', { kind: 'hook' });
    report('another', { kind: 'run' });
    expect(passed.map(([kind]) => kind)).toEqual(['tool', 'hook', 'hook', 'run']);
  });
});
