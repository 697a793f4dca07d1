/** What all plans of one planner share: made once when it is opened, and passed on as it is. */

import type { Metrics } from '../base/metrics.ts';
import type { Storage, Watchable } from '../contracts/storage.ts';
import type { Emit } from '../events/events.ts';
import type { NoticeMaker } from '../contracts/notices.ts';
import type { Report } from '../events/report.ts';
import type { Instances } from '../log/instances.ts';
import type { AuthorizeCreate } from './authorize-create.ts';
import type { PlanLimits } from './plan-limits.ts';
import type { RunAgent } from './run-agent.ts';

/** The ports, hooks and limits of a planner. */
export interface PlanHost {
  readonly storage: Storage & Partial<Watchable>;
  readonly runAgent: RunAgent;
  readonly limits: PlanLimits;
  readonly authorize: AuthorizeCreate | undefined;
  readonly emit: Emit;
  readonly metrics: Pick<Metrics, 'count'> | undefined;
  readonly report: Report;
  /** Has the plans that are due at this time woken then. */
  readonly arm: (at: number) => void;
  readonly instances: Instances;
  /** Makes the notices of questions. */
  readonly notices: NoticeMaker | undefined;
  readonly now: () => number;
}

/** How many calls of each provider go on at once, over all plans of an instance. A provider without a limit always has a place. */
export class ProviderPlaces {
  readonly #limits: ReadonlyMap<string, number>;
  readonly #taken = new Map<string, number>();
  readonly #onFree: () => void;

  /** `onFree` is called when a place that was the last becomes free. */
  constructor(limits: Readonly<Record<string, number>>, onFree: () => void) {
    this.#limits = new Map(Object.entries(limits));
    this.#onFree = onFree;
  }

  isFree(provider: string | undefined): boolean {
    return provider === undefined || this.#countOf(provider) < this.#limitOf(provider);
  }

  take(provider: string | undefined): void {
    if (provider !== undefined) this.#taken.set(provider, this.#countOf(provider) + 1);
  }

  free(provider: string | undefined): void {
    if (provider === undefined) return;
    const count = this.#countOf(provider) - 1;
    if (count === 0) this.#taken.delete(provider);
    else this.#taken.set(provider, count);
    if (count === this.#limitOf(provider) - 1) this.#onFree();
  }

  #countOf(provider: string): number {
    return this.#taken.get(provider) ?? 0;
  }

  #limitOf(provider: string): number {
    return this.#limits.get(provider) ?? Infinity;
  }
}
