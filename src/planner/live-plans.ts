/** The plans that this process runs: claims them, passes on what comes from outside, and releases them. */

import { reportHidden } from '../events/report.ts';
import { type LeftInstance, ownedKey } from '../log/instances.ts';
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
    else await this.#claimLost(planId); // its owner may be dead
  }

  /** Looks whether the owner of the plan lives, so that a reader does not wait for a sweep. Ends with the signal, or the returned function. */
  guard(planId: string, signal?: AbortSignal): () => void {
    const claimLost = (): void => void this.#claimLost(planId).catch(this.#reportOf(planId)); // the next one tries again
    claimLost();
    const timer = setInterval(claimLost, guardMs);
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

  /** Takes over a plan that another instance has left. */
  async take(planId: string, left: LeftInstance): Promise<void> {
    const head = (await readJournal<PlanHead>(this.host.storage, planPrefix(planId)))?.head;
    // It has ended, or waits, or another instance has it.
    const isOver = head?.instance !== left.id || head.state.status !== 'running';
    if (isOver) await this.host.storage.commit([{ key: ownedKey(left.id, planId) }]);
    else await this.#claim(planId, left);
  }

  async close({ handOver = false } = {}): Promise<void> {
    this.#isClosed = true;
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
    this.host.instances.claimed(planId);
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
    this.host.instances.released(planId);
    if (this.#isClosed) return;
    if (how === 'lost') this.host.instances.abandon(planId); // unless another instance has it
    // Items that arrived during the release: their sender saw an owner and did not claim the plan.
    const { storage } = this.host;
    if (how === 'suspended' && (await readInbound(storage, planId)).items.length > 0) await this.#claim(planId);
  }

  /** Runs the plan here, unless another process owns it. */
  async #claim(planId: string, left?: LeftInstance): Promise<LivePlan | undefined> {
    const known = this.#live.get(planId) ?? this.#claiming.get(planId);
    if (known) return await known;
    const claimed = this.#claimOnce(planId, left).finally(() => this.#claiming.delete(planId));
    this.#claiming.set(planId, claimed);
    return await claimed;
  }

  async #claimLost(planId: string): Promise<void> {
    const { storage, now, instances } = this.host;
    if (this.#live.has(planId)) return;
    const head = (await readJournal<PlanHead>(storage, planPrefix(planId)))?.head;
    const { status, dueAt = Infinity } = head?.state ?? {};
    if (status === 'running' && head?.instance !== undefined) instances.ask(head.instance, planId);
    else if (status === 'running' || (status === 'waiting' && dueAt <= now())) await this.#claim(planId);
  }

  async #claimOnce(planId: string, left?: LeftInstance): Promise<LivePlan | undefined> {
    const owned = this.#isClosed ? undefined : await claimPlan(planId, this.host, left);
    return owned && this.run(owned);
  }
}
