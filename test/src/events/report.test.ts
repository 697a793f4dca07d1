import { describe, expect, it } from 'vitest';
import { createReport, type ErrorKind } from '../../../src/events/report.ts';
import { PinnaceError } from '../../../src/index.ts';

/** A report, and the kinds and causes that it has passed on. */
function recorded() {
  const passed: [ErrorKind, unknown][] = [];
  return { passed, report: createReport((cause, { kind }) => void passed.push([kind, cause])) };
}

const wrapped = (cause: unknown): PinnaceError => new PinnaceError('internal', 'It failed', { cause });

describe('createReport', () => {
  it('passes on a thrown text once, also where other parts receive it inside an error or as it is', () => {
    const { passed, report } = recorded();
    report('out of order', { kind: 'storage' });
    report(wrapped('out of order'), { kind: 'tool' });
    report('out of order', { kind: 'run' });
    report(wrapped(wrapped('out of order')), { kind: 'http' });
    expect(passed).toEqual([['storage', 'out of order']]);
  });

  it('passes on the same text again where another part that calls code of the composition receives it', () => {
    const { passed, report } = recorded();
    report('out of order', { kind: 'tool' });
    report('out of order', { kind: 'hook' });
    report('out of order', { kind: 'hook' });
    report('another', { kind: 'run' });
    expect(passed.map(([kind]) => kind)).toEqual(['tool', 'hook', 'hook', 'run']);
  });

  it('passes on an error once, and the same error again where the same part receives it again', () => {
    const { passed, report } = recorded();
    const cause = new TypeError('a bug');
    report(cause, { kind: 'tool' });
    report(wrapped(cause), { kind: 'run' });
    report(cause, { kind: 'tool' });
    expect(passed).toEqual([['tool', cause], ['tool', cause]]);
  });
});
