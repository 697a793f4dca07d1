/** The plans that this process runs: claims them, passes on what comes from outside, and releases them. */

import type { Metrics } from '../../base/metrics.ts';
import type { Storage, Watchable } from '../../contracts/storage.ts';
import { type Emit, unobserved } from '../../events/events.ts';
import { type Report, reportHidden } from '../../events/report.ts';
import { readJournal } from '../../log/journal-record.ts';
import { watchKey } from '../../log/news.ts';
import type { AuthorizeCreate } from '../decide/authorize-create.ts';
import { createProviderPlaces, type ProviderPlaces } from '../decide/provider-places.ts';
import { claimPlan, type OwnedPlan } from '../journal/found-plan.ts';
import { bellKey, type PlanHead, planPrefix, readInbound } from '../journal/plan-record.ts';
import type { PlanLimits } from '../model/plan-limits.ts';
import { createPlanCounter } from './count-plan.ts';
import { emitPlan, type PlanEvents } from './emit-plan.ts';
import { runPlan } from './live-plan.ts';
import type { LivePlan } from './live-plan-options.ts';
import type { RunAgent } from './run-agent.ts';
import { duePlans } from './sweep.ts';

/** What running plans needs. */
export interface LivePlansOptions {
  readonly storage: Storage & Partial<Watchable>;
  readonly runAgent: RunAgent;
  readonly authorize: AuthorizeCreate | undefined;
  readonly emit: Emit | undefined;
  readonly metrics: Pick<Metrics, 'count'> | undefined;
  readonly report: Report;
  readonly limits: PlanLimits;
  readonly now: () => number;
}

/** The live plans of one process. */
export class LivePlans {
  readonly #options: LivePlansOptions;
  readonly #live = new Map<string, LivePlan>();
  readonly #claiming = new Map<string, Promise<LivePlan | undefined>>();
  readonly #retries = new Set<ReturnType<typeof setTimeout>>();
  readonly #places: ProviderPlaces;
  #isClosed = false;

  constructor(options: LivePlansOptions) {
    this.#options = options;
    this.#places = createProviderPlaces(options.limits.providers, () => this.#pump());
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** How many plans this process runs. */
  get size(): number {
    return this.#live.size;
  }

  /** Returns the plan if this process runs it. */
  get(planId: string): LivePlan | undefined {
    return this.#live.get(planId);
  }

  /** Runs a plan that this process owns. */
  run(owned: OwnedPlan): void {
    this.#own(owned);
  }

  /** Makes the owner of the plan read its inbound items. Claims a plan without an owner. */
  async bring(planId: string): Promise<void> {
    const plan = this.#live.get(planId) ?? await this.#claim(planId);
    if (plan) plan.take(await readInbound(this.#options.storage, planId));
  }

  /** Claims the plan whenever its owner is lost, so that a reader does not wait for a sweep. Ends with the signal, or the returned function. */
  guard(planId: string, signal?: AbortSignal): () => void {
    const claimLost = (): void => void this.#claimLost(planId).catch(this.#reportOf(planId)); // the next one tries again
    claimLost();
    const timer = setInterval(claimLost, this.#options.limits.leaseMs / 2);
    const stop = (): void => {
      clearInterval(timer);
      signal?.removeEventListener('abort', stop);
    };
    signal?.addEventListener('abort', stop, { once: true }); // a reader that leaves may never finish its iteration
    if (signal?.aborted) stop();
    return stop;
  }

  /** Claims the plans that are due and returns how many. */
  async sweep(): Promise<number> {
    const { storage, now } = this.#options;
    this.#pump();
    let count = 0;
    for (const planId of await duePlans(storage, now())) {
      // A plan that cannot be read does not hold up the others; the next sweep tries again.
      if (!this.#live.has(planId) && await this.#claim(planId).catch(this.#reportOf(planId))) count++;
    }
    return count;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#retries) clearTimeout(timer);
    for (const plan of this.#live.values()) plan.close();
    await Promise.all([...this.#live.values()].map(({ released }) => released));
  }

  /** Returns the handler for failures of work in the background. The storage reports its own. */
  #reportOf(planId: string): (error: unknown) => undefined {
    return (error) => {
      reportHidden(this.#options.report, error, { kind: 'plan', planId });
      return undefined;
    };
  }

  #pump(): void {
    for (const plan of this.#live.values()) plan.pump();
  }

  #own(owned: OwnedPlan): LivePlan {
    const { planId } = owned;
    const { emit, metrics, now, storage } = this.#options;
    const observed = emit && emit !== unobserved ? emitPlan(owned, { emit, now }) : undefined;
    const counting = metrics && createPlanCounter(owned.state, metrics);
    const plan = runPlan({ ...owned, ...this.#options, places: this.#places, events: observed, counting });
    this.#live.set(planId, plan);
    const takeInbound = async (): Promise<void> => {
      const inbound = await readInbound(storage, planId);
      if (inbound.items.length > 0) plan.take(inbound);
    };
    const report = this.#reportOf(planId);
    const onNews = (): void => void takeInbound().catch(report); // the next news, or the next owner, tries again
    const stopWatch = watchKey(storage, bellKey(planId), onNews);
    onNews();
    void this.#untilReleased(planId, plan, { stopWatch, observed }).catch(report); // the next reader of the plan claims it
    return plan;
  }

  async #untilReleased(
    planId: string,
    plan: LivePlan,
    { stopWatch, observed }: { readonly stopWatch: () => void; readonly observed: PlanEvents | undefined },
  ): Promise<void> {
    const how = await plan.released;
    stopWatch();
    observed?.leave();
    this.#live.delete(planId);
    if (this.#isClosed) return;
    if (how === 'lost') this.#claimLater(planId);
    // Items that arrived during the release: their sender saw an owner and did not claim the plan.
    const { storage } = this.#options;
    if (how === 'suspended' && (await readInbound(storage, planId)).items.length > 0) await this.#claim(planId);
  }

  /** The storage may have failed for a moment: claim the plan again after the lease, unless another process has. */
  #claimLater(planId: string): void {
    const timer = setTimeout(() => {
      this.#retries.delete(timer);
      void this.#claim(planId).catch((error: unknown) => {
        this.#reportOf(planId)(error);
        if (!this.#isClosed) this.#claimLater(planId);
      });
    }, this.#options.limits.leaseMs + 1);
    this.#retries.add(timer);
  }

  /** Runs the plan here, unless another process owns it. */
  async #claim(planId: string): Promise<LivePlan | undefined> {
    const known = this.#live.get(planId) ?? this.#claiming.get(planId);
    if (known) return await known;
    const claimed = this.#claimOnce(planId).finally(() => this.#claiming.delete(planId));
    this.#claiming.set(planId, claimed);
    return await claimed;
  }

  async #claimLost(planId: string): Promise<void> {
    const { storage, now, limits: { leaseMs } } = this.#options;
    if (this.#live.has(planId)) return;
    const head = (await readJournal<PlanHead>(storage, planPrefix(planId)))?.head;
    if (head?.state.status === 'running' && now() - head.at >= leaseMs) await this.#claim(planId);
  }

  async #claimOnce(planId: string): Promise<LivePlan | undefined> {
    const owned = this.#isClosed ? undefined : await claimPlan(planId, this.#options);
    return owned && this.#own(owned);
  }
}
