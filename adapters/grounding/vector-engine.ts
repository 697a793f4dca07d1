/** Finds items by their vectors, and says how probable it is that a hit is relevant. */

import { createTurns } from '../../src/base/turns.ts';
import type { Embedder, GroundingRequest, SourceHit } from '../../src/contracts/grounding-source.ts';
import { cosineConfidence, type CosineSpread, sigmoid } from '../../src/grounding/calibration.ts';
import { excerptOf } from './excerpt.ts';
import type { StoredItem } from './item.ts';
import { type ItemEngine, plainHit, type SearchContext } from './item-engine.ts';
import type { StoredRow } from './item.ts';
import { createSplitMap } from '../../src/search/split-map.ts';
import { createAllowedRows } from './item-engine.ts';
import { requireDimensions, toUnit, type VectorFormat, VectorRows } from './vector-rows.ts';

export function embeddedText({ title, text }: StoredItem): string {
  return title === undefined ? text : `${title}\n${text}`;
}

/** Rows are compacted when a fifth of them is dead, and at least this many. */
const fewestDead = 1_000;

/** The items of one tenant that have vectors. Of an embedder that counts features, rare features say more. */
export class VectorEngine implements ItemEngine {
  readonly #format: VectorFormat;
  readonly #embedder: Embedder | undefined;
  #rows: VectorRows | undefined;
  #rowOf = createSplitMap<number>();
  /** How many items have each feature. */
  #featureCounts = new Uint32Array();
  readonly #allowedRows = createAllowedRows();
  #spread: { readonly of: CosineSpread; readonly live: number } | undefined;

  constructor(format: VectorFormat, embedder?: Embedder) {
    this.#format = format;
    this.#embedder = embedder;
  }

  require(added: readonly StoredRow[]): void {
    const length = this.#rows?.dimensions ?? added[0]?.vector?.length ?? 0;
    for (const { vector } of added) if (vector) requireDimensions(vector.length, length);
  }

  add({ item, vector: stored }: StoredRow): void {
    if (!stored) return; // only filters find an item without a vector
    const vector = this.#upToDate(item, stored);
    this.#countFeatures(vector, 1);
    this.#rows ??= new VectorRows(vector.length, this.#format);
    this.#rowOf.set(item.id, this.#rows.append(item.id, vector));
    this.#allowedRows.clear();
  }

  remove({ id }: StoredItem): void {
    const row = this.#rowOf.get(id);
    if (row === undefined || !this.#rows) return;
    this.#countFeatures(this.#rows.vectorAt(row), -1);
    this.#rows.kill(row);
    this.#rowOf.delete(id);
    this.#allowedRows.clear();
  }

  rowOf(item: StoredItem): StoredRow {
    const row = this.#rowOf.get(item.id);
    return row === undefined || !this.#rows ? { item } : { item, vector: this.#rows.vectorAt(row) };
  }

  stats(): Readonly<Record<string, unknown>> {
    return { vectors: this.#rows?.live ?? 0 };
  }

  /** Copies the live rows, in their order, where many are dead. A search that is under way keeps the old ones. */
  async settle(signal: AbortSignal): Promise<void> {
    const old = this.#rows;
    if (!old || old.ids.length - old.live < Math.max(fewestDead, old.ids.length / 5)) return;
    const [fresh, places, turns] = [
      new VectorRows(old.dimensions, this.#format),
      createSplitMap<number>(),
      createTurns(signal),
    ];
    for (const [row, id] of old.ids.entries()) {
      await turns.next();
      if (id !== undefined) places.set(id, fresh.append(id, old.vectorAt(row)));
    }
    [this.#rows, this.#rowOf] = [fresh, places];
    this.#allowedRows.clear();
  }

  async search({ embedding = [], filters, topK }: GroundingRequest, context: SearchContext): Promise<SourceHit[]> {
    const rows = this.#rows;
    if (rows) requireDimensions(embedding.length, rows.dimensions);
    const asked = toUnit(embedding, new Float64Array(embedding.length));
    if (!rows) return [];
    const features = this.#embedder?.countsFeatures ? featuresOf(asked).length : 0;
    const allowed = await this.#allowedRows.find(filters, { ...context, ids: rows.ids });
    const query = features > 0 ? this.#weighted(asked, rows.live) : asked;
    // How far the last one is ahead is known too.
    const nearest = await rows.nearest(query, { topK: topK + 1, allowed, turns: createTurns(context.signal) });
    return nearest.slice(0, topK).flatMap(({ row, score }, at): SourceHit[] => {
      const item = context.items.get(rows.ids[row] ?? '');
      if (!item) return []; // removed during the search
      if (features > 0 && score <= 0) return []; // no feature in common
      const { content, contentRange } = excerptOf(item.text, []);
      const gap = 1 - Math.max(0, nearest[at + 1]?.score ?? 0) / Math.max(score, 1e-9);
      const confidence = features > 0
        ? featureConfidence(score, { gap, at, features })
        : cosineConfidence(score, this.#spreadOf(rows), rows.live);
      const shown = { ...plainHit(item, context.version), content, ...(contentRange && { contentRange }) };
      return [{ ...shown, score, scoreKind: 'cosine', confidence, matched: [] }];
    });
  }

  /** An embedder that answers at once replaces a stored vector of another length. */
  #upToDate(item: StoredItem, vector: Float32Array): Float32Array {
    const length = this.#rows?.dimensions ?? this.#embedder?.embedNow?.('').length ?? vector.length;
    const current = vector.length === length ? undefined : this.#embedder?.embedNow?.(embeddedText(item));
    return current ? toUnit(current, new Float32Array(current.length)) : vector;
  }

  #countFeatures(vector: ArrayLike<number>, by: 1 | -1): void {
    if (!this.#embedder?.countsFeatures) return;
    if (this.#featureCounts.length === 0) this.#featureCounts = new Uint32Array(vector.length);
    for (const i of featuresOf(vector)) this.#featureCounts[i]! += by;
  }

  #weighted(query: Float64Array, items: number): Float64Array {
    const rarity = (i: number): number => Math.log(1 + (items + 1) / ((this.#featureCounts[i] ?? 0) + 0.5));
    return toUnit(query.map((value, i) => value * rarity(i)), query);
  }

  #spreadOf(rows: VectorRows): CosineSpread {
    if (!this.#spread || Math.abs(this.#spread.live - rows.live) > this.#spread.live / 10) {
      this.#spread = { of: measureSpread(rows), live: rows.live };
    }
    return this.#spread.of;
  }
}

/** Parts of words are in nearly every item: less than this share of the largest value is not a feature of its own. */
const leastShare = 0.3;

function featuresOf(vector: ArrayLike<number>): number[] {
  let largest = 0;
  for (let i = 0; i < vector.length; i++) largest = Math.max(largest, Math.abs(vector[i]!));
  const features: number[] = [];
  for (let i = 0; i < vector.length; i++) if (Math.abs(vector[i]!) >= leastShare * largest) features.push(i);
  return features;
}

/** A query of more features asks for several things at once, one for so many. */
const featuresOfOne = 4;
/** A hit of a query with more features says no larger part of them. */
const mostFeatures = 24;

/**
 * The probability that a hit by counted features is relevant: a logistic regression, fitted to the judged development questions. Words
 * alone, without their order and meaning, are seldom sure. A query of many features has a lower cosine with what answers it.
 */
function featureConfidence(
  cosine: number,
  { gap, at, features }: { readonly gap: number; readonly at: number; readonly features: number },
): number {
  const evidence = 2.24 * cosine * Math.sqrt(Math.min(features, mostFeatures)) + 1.39 * gap;
  return sigmoid(-3.48 + evidence - 0.65 * Math.log(1 + at / Math.max(1, features / featuresOfOne)));
}

/** The pairs of rows whose cosines show how similar unrelated rows are. */
const sampledPairs = 1_000;
/** Few pairs say little of the deviation: so many of a usual one are added. */
const priorPairs = 20;
const priorDeviation = 0.1;

function measureSpread(rows: VectorRows): CosineSpread {
  const living = Uint32Array.from(rows.ids.keys()).filter((row) => rows.ids[row] !== undefined);
  const count = Math.min(sampledPairs, (living.length * (living.length - 1)) / 2);
  const cosines = Array.from({ length: count }, (_, at) => {
    const [first, apart] = [at * 7_919, 1 + ((at * 104_729) % (living.length - 1))]; // primes: far from each other
    const other = rows.vectorAt(living[(first + apart) % living.length]!);
    return rows.cosineOf(living[first % living.length]!, Float64Array.from(other));
  });
  const mean = cosines.reduce((sum, cosine) => sum + cosine, 0) / Math.max(1, count);
  const squares = cosines.reduce((sum, cosine) => sum + (cosine - mean) ** 2, 0);
  const deviation = Math.sqrt((squares + priorPairs * priorDeviation ** 2) / (count + priorPairs));
  return {
    mean: (mean * count) / (count + priorPairs),
    deviation: count < sampledPairs ? deviation : Math.sqrt(squares / count) || 1e-6,
  };
}
