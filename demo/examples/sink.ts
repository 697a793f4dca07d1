/** A custom sink that counts and reports frequent tool failures. A sink gets events in order, redacted, and cannot break a run. */

import type { EventSink } from 'pinnace';

/** Tools by how often they failed, and a call for each that fails too often. */
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
