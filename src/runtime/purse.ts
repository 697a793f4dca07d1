/**
 * What one instance may spend of a budget in a period. What must hold:
 * - The record has the sum of all grants, and never more than the limit. A grant is taken by compare-and-set before it is spent.
 * - An instance spends its grants only. A grant whose commit has no known outcome is never spent, and never given back.
 * - The period is part of the key: nothing is reset, and a late write of an old period cannot touch the new one.
 * - Of an instance that is killed, the rest of its grants stays spent until the period ends: what it used is unknown.
 */

import { PinnaceError } from '../base/errors.ts';
import type { Key } from '../base/key.ts';
import type { Change, Storage } from '../contracts/storage.ts';
import { commitOwn } from '../log/commits.ts';

/** What is counted. Money is in millionths. */
export const measures = ['tokens', 'micros', 'runs', 'bytes'] as const;
/** One of what is counted. */
export type Measure = typeof measures[number];
/** Amounts of some of it. */
export type Amounts = { readonly [Name in Measure]?: number | undefined };

/** The record of a period: the sums of all grants. */
export interface SpentRecord extends Record<Measure, number> {
  /** 80 % were granted, and that was emitted. */
  readonly warned?: true;
  /** Something was refused, and that was emitted. */
  readonly spent?: true;
  /** The last commit, which recognizes itself by it. */
  readonly mark: string;
}

/** What a purse is made of. */
export interface PurseOptions {
  readonly storage: Pick<Storage, 'get' | 'commit'>;
  readonly key: Key;
  readonly limit: Amounts;
  readonly ttlMs: number;
  /** How long a grant waits for a storage that is out of reach. */
  readonly graceMs: number;
  /** Between 0 and 1. */
  readonly random?: () => number;
  /** The error when nothing is left of a measure. */
  readonly exceeded: (measure: Measure) => PinnaceError;
  /** The changes that announce it, which are part of the commit. */
  readonly announce?: (what: 'warn' | 'spent') => readonly Change[];
  /** Is called once a period over all instances: at 80 %, and when something is refused. */
  readonly emit: (what: 'warn' | 'spent', measure: Measure) => void;
}

/** The share of a limit that is granted at once, and that which warns. */
const grantShare = 0.01;
const warnShare = 0.8;
/** How often a grant is tried while other instances take theirs. */
const mostTries = 40;

/** The purse of one instance. */
export class Purse {
  readonly #options: PurseOptions;
  readonly #limited: readonly Measure[];
  /** What this instance was granted and has not given back; what of it is used; what calls under way have reserved. */
  readonly #granted = zero();
  readonly #used = zero();
  readonly #reserved = zero();
  /** The record as it was last seen. */
  #seen: { readonly record: SpentRecord; readonly version: string | null } | undefined;
  /** One request at a time. */
  #turn: Promise<unknown> = Promise.resolve();
  #onSettled: (() => void) | undefined;

  constructor(options: PurseOptions) {
    this.#options = options;
    this.#limited = measures.filter((measure) => options.limit[measure] !== undefined);
  }

  /** Whether calls under way have reserved something of it. */
  get isReserved(): boolean {
    return this.#limited.some((measure) => this.#reserved[measure] > 0);
  }

  /** The largest share of a limit that was granted, as far as this instance knows. */
  get share(): number {
    const { limit } = this.#options;
    return Math.max(
      0,
      ...this.#limited.map((measure) => (this.#seen?.record[measure] ?? 0) / Math.max(1, limit[measure] ?? 1)),
    );
  }

  /** What was used of it, grants of other instances included. */
  async usedNow(): Promise<Record<Measure, number>> {
    await this.#inTurn(async () => await this.#read());
    const used = zero();
    for (const measure of measures) {
      used[measure] = (this.#seen?.record[measure] ?? 0) - this.#granted[measure] + this.#used[measure];
    }
    return used;
  }

  /**
   * Reserves `most`, or what there is when that is at least `least`; waits for calls under way that may leave something.
   *
   * @throws PinnaceError as `exceeded` says, `unavailable` (`budget_unavailable`) when the storage is out of reach for too long.
   */
  async take(least: Amounts, most: Amounts = least): Promise<Amounts> {
    if (this.#has(most)) return this.#reserve(most);
    return await this.#inTurn(async () => {
      for (;;) {
        if (!this.#has(most)) await this.#refill(most);
        if (this.#has(least)) return this.#reserve(most);
        const lacking = this.#limited.find((measure) => this.#left(measure) < (least[measure] ?? 0)) ?? 'tokens';
        if (this.#reserved[lacking] <= 0) throw await this.#refused(lacking);
        await new Promise<void>((resolve) => this.#onSettled = resolve);
      }
    });
  }

  /** Rejects as `take` does when nothing is left for anyone, and reserves nothing. Waits for no call under way. */
  async requireSome(some: readonly Measure[]): Promise<void> {
    const wanted = this.#limited.filter((measure) => some.includes(measure) && this.#left(measure) < 1);
    if (wanted.length === 0) return;
    await this.#inTurn(async () => {
      await this.#refill(Object.fromEntries(wanted.map((measure) => [measure, 1])));
      const lacking = wanted.find((measure) => this.#left(measure) < 1 && this.#reserved[measure] <= 0);
      if (lacking) throw await this.#refused(lacking);
    });
  }

  /** Releases what was reserved, and counts what was used of it. */
  settle(reserved: Amounts, used: Amounts = {}): void {
    for (const measure of this.#limited) {
      this.#reserved[measure] -= reserved[measure] ?? 0;
      this.#used[measure] += used[measure] ?? 0;
    }
    this.#onSettled?.();
    this.#onSettled = undefined;
  }

  /** Returns what is left of the grants. A rest whose commit has no known outcome is not spent. */
  async giveBack(): Promise<void> {
    await this.#inTurn(async () => {
      const rest = this.#amounts((measure) => Math.max(0, this.#left(measure)));
      if (this.#limited.every((measure) => rest[measure] === 0)) return;
      for (const measure of this.#limited) this.#granted[measure] -= rest[measure] ?? 0;
      await this.#change((record) => {
        const changed = { ...record };
        for (const measure of this.#limited) changed[measure] -= rest[measure] ?? 0;
        return changed;
      });
    });
  }

  #left(measure: Measure): number {
    return this.#granted[measure] - this.#used[measure] - this.#reserved[measure];
  }

  #has(amounts: Amounts): boolean {
    return this.#limited.every((measure) => this.#left(measure) >= (amounts[measure] ?? 0));
  }

  /** Reserves as much of it as is left. */
  #reserve(most: Amounts): Amounts {
    const reserved = this.#amounts((measure) => Math.min(most[measure] ?? 0, this.#left(measure)));
    for (const measure of this.#limited) this.#reserved[measure] += reserved[measure] ?? 0;
    return reserved;
  }

  #amounts(amountOf: (measure: Measure) => number): Amounts {
    return Object.fromEntries(this.#limited.map((measure) => [measure, amountOf(measure)]));
  }

  /** Takes a grant for what is lacking: 1 % of the limit or all that is lacking, less when less is left. */
  async #refill(wanted: Amounts): Promise<void> {
    const { limit } = this.#options;
    let asked: Amounts = {};
    const isChanged = await this.#change((record) => {
      asked = this.#amounts((measure) => {
        const lacking = (wanted[measure] ?? 0) - this.#left(measure);
        const most = limit[measure] ?? 0;
        const left = Math.max(0, most - record[measure]);
        return lacking <= 0 ? 0 : Math.min(left, Math.max(Math.ceil(lacking), Math.ceil(most * grantShare)));
      });
      if (this.#limited.every((measure) => asked[measure] === 0)) return undefined;
      const changed = { ...record };
      for (const measure of this.#limited) changed[measure] += asked[measure] ?? 0;
      const warns = this.#warning(changed) !== undefined;
      return warns && !record.warned ? { ...changed, warned: true } : changed;
    }, (before, after) => {
      const measure = this.#warning(after);
      if (measure && !before.warned) this.#options.emit('warn', measure);
    });
    if (!isChanged) return;
    for (const measure of this.#limited) this.#granted[measure] += asked[measure] ?? 0;
  }

  #warning(record: SpentRecord): Measure | undefined {
    const { limit } = this.#options;
    return this.#limited.find((measure) => record[measure] >= (limit[measure] ?? 0) * warnShare);
  }

  /** The error of what was refused, which is emitted once. */
  async #refused(lacking: Measure): Promise<PinnaceError> {
    if (!this.#seen?.record.spent) {
      const onChanged = (before: SpentRecord): void => void (before.spent || this.#options.emit('spent', lacking));
      await this.#change((record) => record.spent ? undefined : { ...record, spent: true }, onChanged)
        .catch(() => undefined); // the refusal itself needs no record
    }
    return this.#options.exceeded(lacking);
  }

  /**
   * Changes the record by compare-and-set. Returns whether it did; `changed` returns `undefined` where nothing is to change. A record
   * that may be out of date is read again before nothing is changed.
   */
  async #change(
    changed: (record: SpentRecord) => SpentRecord | undefined,
    onChanged?: (before: SpentRecord, after: SpentRecord) => void,
  ): Promise<boolean> {
    const { storage, key, ttlMs, graceMs, random = Math.random } = this.#options;
    let isFresh = false;
    for (let tries = 0; tries < mostTries; tries++) {
      if (!this.#seen) {
        await this.#read();
        isFresh = true;
      }
      const { record, version } = this.#seen ?? { record: nothing, version: null };
      const next = changed(record);
      if (!next && isFresh) return false;
      this.#seen = undefined;
      if (!next) continue;
      const value: SpentRecord = { ...next, mark: crypto.randomUUID() };
      const result = await this.#within(() =>
        commitOwn(storage, [{ key, value, ttlMs, ifVersion: version }, ...this.#announced(record, value)], {
          written: async () => {
            const found = await storage.get(key);
            return (found?.value as SpentRecord | undefined)?.mark === value.mark ? found?.version : undefined;
          },
          graceMs,
        })
      );
      if (result.ok) {
        this.#seen = { record: value, version: result.version };
        onChanged?.(record, value);
        return true;
      }
      if (tries > 2) await pause(random() * Math.min(200, 5 * tries));
    }
    throw unavailable();
  }

  #announced(before: SpentRecord, after: SpentRecord): readonly Change[] {
    const { announce } = this.#options;
    if (!announce) return [];
    return [
      ...(after.warned && !before.warned ? announce('warn') : []),
      ...(after.spent && !before.spent ? announce('spent') : []),
    ];
  }

  async #read(): Promise<void> {
    const { storage, key } = this.#options;
    const found = await this.#within(() => storage.get(key));
    const record = (found?.value as SpentRecord | undefined) ?? nothing; // only this class writes it
    this.#seen = { record, version: found?.version ?? null };
  }

  async #within<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      throw unavailable(cause);
    }
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work, work);
    this.#turn = mine.catch(() => undefined);
    return await mine;
  }
}

const nothing: SpentRecord = { ...zero(), mark: '' };

function zero(): Record<Measure, number> {
  return { tokens: 0, micros: 0, runs: 0, bytes: 0 };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function unavailable(cause?: unknown): PinnaceError {
  return new PinnaceError('unavailable', 'Cannot pay from the budget: its storage does not answer', {
    cause,
    details: { reason: 'budget_unavailable' },
  });
}
