/** A run's spans as the rows of a waterfall. */

import type { RunSpan } from './run-spans.ts';

export interface SpanRow {
  readonly span: RunSpan;
  readonly depth: number;
  readonly isExpanded: boolean;
  /** Its place among its siblings, from 1, and how many those are. */
  readonly position: number;
  readonly siblings: number;
}

/** Returns the rows, top down, without what is inside a span that is collapsed. */
export function rowsOf(roots: readonly RunSpan[], collapsed: ReadonlySet<string>): readonly SpanRow[] {
  const rows: SpanRow[] = [];
  const waiting = level(roots, 0);
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const isExpanded = next.span.children.length > 0 && !collapsed.has(next.span.key);
    rows.push({ ...next, isExpanded });
    if (isExpanded) { for (const row of level(next.span.children, next.depth + 1)) waiting.push(row); }
  }
  return rows;
}

/** The last first: rows are taken from the end. */
function level(spans: readonly RunSpan[], depth: number): Omit<SpanRow, 'isExpanded'>[] {
  const siblings = spans.length;
  return spans.map((span, i) => ({ span, depth, position: i + 1, siblings })).toReversed();
}
