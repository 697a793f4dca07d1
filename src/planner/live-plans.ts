/** The plans that this process runs: claims them, passes on what comes from outside, and releases them. */

import { reportHidden } from '../events/report.ts';
import { readJournal } from '../log/journal-record.ts';
import { watchKey } from '../log/bulletin.ts';
import { claimPlan } from './found-plan.ts';
import { LivePlan } from './live-plan.ts';
import { type PlanHost, ProviderPlaces } from './plan-host.ts';
import type { OwnedPlan } from './plan-journal.ts';
import { bellKey, type PlanHead, planPrefix, readInbound } from './plan-record.ts';

/** How often a reader looks whether its plan has an owner. */
const guardMs = 1_000;

/** The live plans of one process. */
export class LivePlans {
  readonly host: PlanHost;
  readonly #places: ProviderPlaces;
  readonly #live = new Map<string, LivePlan>();
  readonly #claiming = new Map<string, Promise<LivePlan | undefined>>();
  readonly #retries = new Set<ReturnType<typeof setTimeout>>();
  #isClosed = false;

  constructor(host: PlanHost) {
    this.host = host;
    this.#places = new ProviderPlaces(host.limits.providers, () => this.pump());
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

  /** Makes the owner of the plan read its inbound items. Claims a plan without an owner. */
  async bring(planId: string): Promise<void> {
    const plan = this.#live.get(planId) ?? await this.#claim(planId);
    if (plan) plan.take(await readInbound(this.host.storage, planId));
  }

  /** Claims the plan whenever its owner is lost, so that a reader does not wait for a sweep. Ends with the signal, or the returned function. */
  guard(planId: string, signal?: AbortSignal): () => void {
    const claimLost = (): void => void this.#claimLost(planId).catch(this.#reportOf(planId)); // the next one tries again
    claimLost();
    const timer = setInterval(claimLost, Math.min(this.host.limits.leaseMs / 2, guardMs));
    const stop = (): void => {
      clearInterval(timer);
      signal?.removeEventListener('abort', stop);
    };
    signal?.addEventListener('abort', stop, { once: true }); // a reader that leaves may never finish its iteration
    if (signal?.aborted) stop();
    return stop;
  }

  /** Claims a plan that is due. Resolves to whether it was claimed here. */
  async wake(planId: string): Promise<boolean> {
    return !this.#live.has(planId) && await this.#claim(planId) !== undefined;
  }

  async close({ handOver = false } = {}): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#retries) clearTimeout(timer);
    for (const plan of this.#live.values()) {
      if (handOver) plan.handOver();
      else plan.close();
    }
    await Promise.all([...this.#live.values()].map(({ released }) => released));
  }

  /** Returns the handler for failures of work in the background. The storage reports its own. */
  #reportOf(planId: string): (error: unknown) => undefined {
    return (error) => {
      reportHidden(this.host.report, error, { kind: 'plan', planId });
      return undefined;
    };
  }

  /** Looks at the time and at free places for every plan. */
  pump(): void {
    for (const plan of this.#live.values()) plan.pump();
  }

  /** Runs a plan that this process owns. */
  run(owned: OwnedPlan): LivePlan {
    const { planId } = owned;
    const { storage } = this.host;
    const plan = new LivePlan(owned, this.host, this.#places);
    this.#live.set(planId, plan);
    const report = this.#reportOf(planId);
    const onNews = (): void => {
      void readInbound(storage, planId).then((inbound) => inbound.items.length > 0 && plan.take(inbound))
        .catch(report); // the next news, or the next owner, tries again
    };
    const stopWatch = watchKey(storage, bellKey(planId), onNews);
    onNews();
    void this.#untilReleased(planId, plan, stopWatch).catch(report); // the next reader of the plan claims it
    return plan;
  }

  async #untilReleased(planId: string, plan: LivePlan, stopWatch: () => void): Promise<void> {
    const how = await plan.released;
    stopWatch();
    if (how === 'suspended') this.host.arm(plan.head.dueAt ?? Infinity);
    this.#live.delete(planId);
    if (this.#isClosed) return;
    if (how === 'lost') this.#claimLater(planId);
    // Items that arrived during the release: their sender saw an owner and did not claim the plan.
    const { storage } = this.host;
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
    }, this.host.limits.leaseMs + 1);
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
    const { storage, now, limits: { leaseMs } } = this.host;
    if (this.#live.has(planId)) return;
    const head = (await readJournal<PlanHead>(storage, planPrefix(planId)))?.head;
    const { status, dueAt = Infinity } = head?.state ?? {};
    const isLost = status === 'running' && head !== undefined && now() - head.at >= leaseMs;
    if (isLost || (status === 'waiting' && dueAt <= now())) await this.#claim(planId);
  }

  async #claimOnce(planId: string): Promise<LivePlan | undefined> {
    const owned = this.#isClosed ? undefined : await claimPlan(planId, this.host);
    return owned && this.run(owned);
  }
}
