/** Figures over records: counts, sums, means and extremes, for all or by the values of a field. */

import { PinnaceError } from '../../src/base/errors.ts';
import { type GroundingAggregate, numberIn, readField, type SourceHit } from '../../src/contracts/grounding-source.ts';
import { canonicalJson } from '../../src/base/json.ts';
import type { DataRecord } from '../../src/grounding/ingest/csv.ts';

type Figure = GroundingAggregate['figures'][number];

/** Returns one hit for each value of `by`, in the order of the values, or one hit for all. */
export function addUp(
  records: readonly DataRecord[],
  { aggregate: { by, figures }, topK, id, version }: {
    readonly aggregate: GroundingAggregate;
    readonly topK: number;
    readonly id: string;
    readonly version: string;
  },
): SourceHit[] {
  for (const { op, field } of figures) if (op !== 'count' && field === undefined) throw needsField(id, op);
  const groups = by === undefined
    ? [[undefined, records] as const]
    : [...Map.groupBy(records, (record) => scalarOf(readField(record, by)))];
  return groups
    .toSorted(([a], [b]) => compareValues(a, b))
    .slice(0, topK)
    .map(([value, members]) => {
      const metadata = {
        ...(by !== undefined && { [by]: value ?? null }),
        ...Object.fromEntries(figures.map((figure) => [nameOf(figure), figureOf(figure, members)])),
      };
      return {
        id: by === undefined ? 'all' : `${by}=${String(value)}`,
        content: canonicalJson(metadata),
        source: { uri: id, version },
        score: 0,
        scoreKind: 'exact',
        confidence: 0.5,
        matched: [],
        metadata,
      };
    });
}

/** Numbers, and text that writes one, before other text; text by code unit, all else after; what is absent comes last. */
export function compareValues(a: unknown, b: unknown): number {
  const [kindOfA, kindOfB] = [kindOf(a), kindOf(b)];
  if (kindOfA !== kindOfB) return kindOfA - kindOfB;
  const [one, other] = [numberIn(a), numberIn(b)];
  if (one !== undefined && other !== undefined) return one - other;
  const [left, right] = typeof a === 'string' && typeof b === 'string' ? [a, b] : [canonicalJson(a), canonicalJson(b)];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function kindOf(value: unknown): number {
  if (value === undefined || value === null) return 3;
  if (numberIn(value) !== undefined) return 0;
  return typeof value === 'string' ? 1 : 2;
}

function scalarOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? canonicalJson(value) : value;
}

function nameOf({ op, field }: Figure): string {
  return field === undefined ? op : `${op}_${field}`;
}

function figureOf({ op, field }: Figure, records: readonly DataRecord[]): unknown {
  const values = field === undefined
    ? []
    : records.map((record) => readField(record, field)).filter((value) => kindOf(value) < 3);
  if (op === 'count') return field === undefined ? records.length : values.length;
  if (op === 'min' || op === 'max') {
    const sorted = values.toSorted(compareValues);
    const found = sorted.at(op === 'min' ? 0 : -1) ?? null;
    return numberIn(found) ?? found;
  }
  const numbers = values.map(numberIn).filter((value) => value !== undefined);
  const sum = numbers.reduce((total, value) => total + value, 0);
  if (op === 'sum') return sum;
  return numbers.length === 0 ? null : sum / numbers.length;
}

function needsField(id: string, op: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot ask the data source "${id}": "${op}" needs a field`, {
    details: { reason: 'invalid_aggregate' },
  });
}
