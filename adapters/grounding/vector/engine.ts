/** Finds items by their vectors: exactly while they are few, then by one-bit codes first. */

import { cosineConfidence, type CosineSpread } from '../../../src/grounding/confidence.ts';
import type { GroundingRequest, SourceHit } from '../../../src/contracts/grounding-source.ts';
import { excerptOf } from '../excerpt.ts';
import type { StoredItem } from '../item.ts';
import { type ItemEngine, plainHit, type SearchContext } from '../item-engine.ts';
import { createSplitMap, type SplitMap } from '../split-map.ts';
import { createTurns, type Turns } from '../../../src/base/turns.ts';
import { type AllowedRows, createAllowedRows } from './allowed.ts';
import { type Scored, searchByCodes, searchExactly } from './search.ts';
import { appendRow, codeRows, createRows, killRow, type Rows, vectorAt, type VectorFormat } from './segments.ts';
import { createFeatureCounts, featureConfidence, type FeatureCounts, featuresOf } from './features.ts';
import { defaultTuning, measureSpread, measureTuning, mostExact, type Tuning } from './tuning.ts';
import { requireDimensions, toUnit } from './unit.ts';

/** What the vectors of an engine are. */
export interface VectorEngineOptions {
  /** Whether dimensions count features. */
  readonly countsFeatures?: boolean;
  /** Returns the vector to use for a stored one. */
  readonly refresh?: (item: StoredItem, vector: Float32Array) => Float32Array;
}

/** Rows are compacted when a fifth of them is dead, and at least this many. */
const fewestDead = 1_000;

interface State {
  readonly format: VectorFormat;
  readonly allowedRows: AllowedRows;
  rowOf: SplitMap<number>;
  readonly features: FeatureCounts | undefined;
  rows: Rows | undefined;
  tuning: Tuning | undefined;
  spread: { readonly of: CosineSpread; readonly live: number } | undefined;
}

/** Creates an engine without items. */
export function createVectorEngine(
  format: VectorFormat,
  { countsFeatures = false, refresh = (_, vector) => vector }: VectorEngineOptions = {},
): ItemEngine {
  const state: State = {
    format,
    allowedRows: createAllowedRows(),
    rowOf: createSplitMap(),
    features: countsFeatures ? createFeatureCounts() : undefined,
    rows: undefined,
    tuning: undefined,
    spread: undefined,
  };
  const { allowedRows } = state;
  return {
    require(given) {
      const length = state.rows?.dimensions ?? given[0]?.vector?.length ?? 0;
      for (const { vector } of given) if (vector) requireDimensions(vector.length, length);
    },
    add({ item, vector: stored }) {
      if (!stored) return; // only filters find an item without a vector
      const { id } = item;
      const vector = refresh(item, stored);
      state.features?.add(vector, 1);
      state.rows ??= createRows(vector.length, format);
      state.rowOf.set(id, appendRow(state.rows, id, vector));
      allowedRows.clear();
    },
    remove({ id }) {
      const row = state.rowOf.get(id);
      if (row === undefined || !state.rows) return;
      state.features?.add(vectorAt(state.rows, row), -1);
      killRow(state.rows, row);
      state.rowOf.delete(id);
      allowedRows.clear();
    },
    rowOf(item) {
      const row = state.rowOf.get(item.id);
      return row === undefined || !state.rows ? { item } : { item, vector: vectorAt(state.rows, row) };
    },
    settle: (signal, { measure }) => settle(state, { signal, measure }),
    stats: () =>
      state.rows ? { vectors: state.rows.live, ...(state.tuning ?? defaultTuning(state.rows)) } : { vectors: 0 },
    search: (request, context) => search(state, request, context),
  };
}

async function settle(
  state: State,
  { signal, measure }: { readonly signal: AbortSignal; readonly measure: boolean },
): Promise<void> {
  if (!state.rows) return;
  await compact(state, state.rows, createTurns(signal));
  if (state.rows.ids.length > mostExact) await codeRows(state.rows, createTurns(signal));
  const total = state.rows.ids.length;
  const hasGrown = measure && total > mostExact && total >= 2 * (state.tuning?.rows ?? 0);
  if (hasGrown) state.tuning = await measureTuning(state.rows, createTurns(signal));
}

/** Copies the live rows, in their order. A search that is under way keeps the old ones. */
async function compact(state: State, old: Rows, turns: Turns): Promise<void> {
  if (old.ids.length - old.live < Math.max(fewestDead, old.ids.length / 5)) return;
  const fresh = createRows(old.dimensions, state.format);
  const places = createSplitMap<number>();
  for (const [row, id] of old.ids.entries()) {
    await turns.next();
    if (id !== undefined) places.set(id, appendRow(fresh, id, vectorAt(old, row)));
  }
  state.rowOf = places; // all rows that live are in it
  state.rows = fresh;
  state.allowedRows.clear();
}

async function search(
  state: State,
  { embedding = [], filters, topK }: GroundingRequest,
  { items, signal, version }: SearchContext,
): Promise<SourceHit[]> {
  const { rows } = state;
  const asked = toUnit(embedding, rows?.dimensions);
  if (!rows) return [];
  const query = state.features ? toUnit(state.features.weighted(asked, rows.live)) : asked;
  const allowed = await state.allowedRows.find(filters, { ids: rows.ids, items, signal });
  const { path, candidates, columns } = state.tuning ?? defaultTuning(rows);
  const options = { topK: topK + 1, allowed, turns: createTurns(signal) }; // how far the last one is ahead is known too
  const isExact = path === 'exact' || (allowed?.length ?? rows.ids.length) <= mostExact;
  const found = isExact
    ? await searchExactly(rows, query, options)
    : await searchByCodes(rows, query, { ...options, columns, candidates: Math.max(candidates, 30 * topK) });
  const features = state.features ? featuresOf(asked).length : 0;
  return found.slice(0, topK).flatMap(({ row, score }: Scored, at): SourceHit[] => {
    const item = items.get(rows.ids[row] ?? '');
    if (!item) return []; // removed during the search
    if (state.features && score <= 0) return []; // no feature in common: it is not found
    const { content, contentRange } = excerptOf(item.text, []);
    const gap = 1 - Math.max(0, found[at + 1]?.score ?? 0) / Math.max(score, 1e-9);
    const confidence = state.features
      ? featureConfidence(score, { gap, at, features })
      : cosineConfidence(score, spreadOf(state, rows), rows.live);
    return [{
      ...plainHit(item, version),
      content,
      ...(contentRange && { contentRange }),
      score,
      scoreKind: 'cosine',
      confidence,
      matched: [],
    }];
  });
}

function spreadOf(state: State, rows: Rows): CosineSpread {
  if (!state.spread || Math.abs(state.spread.live - rows.live) > state.spread.live / 10) {
    state.spread = { of: measureSpread(rows), live: rows.live };
  }
  return state.spread.of;
}
