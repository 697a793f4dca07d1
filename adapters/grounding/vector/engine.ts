/** Finds items by their vectors: exactly while they are few, then by one-bit codes first. */

import { cosineConfidence, type CosineSpread } from '../../../src/base/confidence.ts';
import type { SourceHit } from '../../../src/contracts/grounding-source.ts';
import { excerptOf } from '../excerpt.ts';
import { type ItemEngine, plainHit } from '../item-engine.ts';
import { createTurns, type Turns } from '../turns.ts';
import { createAllowedRows } from './allowed.ts';
import { searchByCodes, searchExactly } from './search.ts';
import { appendRow, codeRows, createRows, type Kept, killRow, type Rows, vectorAt } from './segments.ts';
import { defaultTuning, measureSpread, measureTuning, mostExact, type Tuning } from './tuning.ts';
import { requireDimensions, toUnit } from './unit.ts';

/** Rows are gathered anew when a fifth of them is dead, and at least so many. */
const fewestDead = 1_000;

/** Gives an engine without items. */
export function createVectorEngine(kept: Kept): ItemEngine {
  const allowedRows = createAllowedRows();
  const rowOf = new Map<string, number>();
  let rows: Rows | undefined;
  let tuning: Tuning | undefined;
  let spread: { readonly of: CosineSpread; readonly live: number } | undefined;

  function spreadOf(now: Rows): CosineSpread {
    const changed = spread === undefined || Math.abs(spread.live - now.live) > spread.live / 10;
    if (changed) spread = { of: measureSpread(now), live: now.live };
    return spread!.of;
  }

  /** Live rows alone, in their order. Whoever is searching keeps the old ones. */
  async function compact(old: Rows, turns: Turns): Promise<void> {
    if (old.ids.length - old.live < Math.max(fewestDead, old.ids.length / 5)) return;
    const fresh = createRows(old.dimensions, kept);
    const places = new Map<string, number>();
    for (const [row, id] of old.ids.entries()) {
      await turns.next();
      if (id !== undefined) places.set(id, appendRow(fresh, id, vectorAt(old, row)));
    }
    for (const [id, row] of places) rowOf.set(id, row);
    rows = fresh;
    allowedRows.clear();
  }

  return {
    require(given) {
      const length = rows?.dimensions ?? given[0]?.vector?.length ?? 0;
      for (const { vector } of given) if (vector) requireDimensions(vector.length, length);
    },
    add({ item: { id }, vector }) {
      if (!vector) return; // what has no vector is found by filters alone
      rows ??= createRows(vector.length, kept);
      rowOf.set(id, appendRow(rows, id, vector));
      allowedRows.clear();
    },
    remove({ id }) {
      const row = rowOf.get(id);
      if (row === undefined || !rows) return;
      killRow(rows, row);
      rowOf.delete(id);
      allowedRows.clear();
    },
    rowOf(item) {
      const row = rowOf.get(item.id);
      return row === undefined || !rows ? { item } : { item, vector: vectorAt(rows, row) };
    },
    async settle(signal, { measure }) {
      if (!rows) return;
      await compact(rows, createTurns(signal));
      if (rows.ids.length > mostExact) await codeRows(rows, createTurns(signal));
      const total = rows.ids.length;
      const grown = measure && total > mostExact && total >= 2 * (tuning?.rows ?? 0);
      if (grown) tuning = await measureTuning(rows, createTurns(signal));
    },
    stats: () => rows ? { vectors: rows.live, ...(tuning ?? defaultTuning(rows)) } : { vectors: 0 },
    async search({ embedding = [], filters, topK }, { items, signal, version }) {
      const query = toUnit(embedding, rows?.dimensions);
      if (!rows) return [];
      const now = rows;
      const allowed = await allowedRows.find(filters, { ids: now.ids, items, signal });
      const { path, candidates, columns } = tuning ?? defaultTuning(now);
      const options = { topK, allowed, turns: createTurns(signal) };
      const exactly = path === 'exact' || (allowed?.length ?? now.ids.length) <= mostExact;
      const found = exactly
        ? await searchExactly(now, query, options)
        : await searchByCodes(now, query, { ...options, columns, candidates: Math.max(candidates, 30 * topK) });
      const usual = spreadOf(now);
      return found.flatMap(({ row, score }): SourceHit[] => {
        const item = items.get(now.ids[row] ?? '');
        if (!item) return []; // gone meanwhile
        const { content, contentRange } = excerptOf(item.text, []);
        return [{
          ...plainHit(item, version),
          content,
          ...(contentRange && { contentRange }),
          score,
          scoreKind: 'cosine',
          confidence: cosineConfidence(score, usual, now.live),
          matched: [],
        }];
      });
    },
  };
}
