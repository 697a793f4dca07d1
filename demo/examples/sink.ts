/** A custom sink that counts and reports frequent tool failures. It receives redacted events in order; a failing sink does not affect a run. */

import type { EventSink } from 'pinnace';

/** Counts failures by tool, and calls `onOften` when a tool has failed `most` times. */
export function failureWatch(options: { readonly most: number; readonly onOften: (toolId: string) => void }): {
  readonly sink: EventSink;
  readonly failures: ReadonlyMap<string, number>;
} {
  const failures = new Map<string, number>();
  return {
    failures,
    sink({ action, target, status }) {
      if (action !== 'tool.call' || status !== 'error') return;
      const count = (failures.get(target.id) ?? 0) + 1;
      failures.set(target.id, count);
      if (count === options.most) options.onOften(target.id);
    },
  };
}
