/**
 * A plan that this process runs.
 *
 * - `write` is the only way to change the plan: events are applied to the state at once, and committed with their group.
 * - An activity starts when the event that allows it is committed; an unsafe one when its own start is. What a crash could undo has
 *   not happened.
 * - After its release the plan writes and starts nothing more: the next owner reads what was committed.
 * - A plan without anything to run is left, for any process to continue; one for which nothing can ever come fails.
 */

import type { PinnaceError } from '../base/errors.ts';
import type { Change } from '../contracts/storage.ts';
import { unobserved } from '../events/events.ts';
import { Alarm } from '../log/due.ts';
import { Reservations } from './account.ts';
import { ActivityRun, type PlanActivities, reportActivity } from './activity-run.ts';
import type { Draft } from './draft.ts';
import { createPlanCounter, emitPlan } from './emit-plan.ts';
import { failure, toFailure } from './failure.ts';
import type { PlanEvent } from './plan-event.ts';
import type { PlanHost, ProviderPlaces } from './plan-host.ts';
import { type OwnedPlan, PlanJournal } from './plan-journal.ts';
import type { Inbound, PlanHead } from './plan-record.ts';
import { type Activity, hasEnded, planDeadlineAt, type PlanState } from './plan-state.ts';
import type { StepOutcome } from './run-agent.ts';
import {
  breakDeadlock,
  failActivity,
  fireDue,
  isValid,
  settleActivity,
  settleInbound,
  settleLostStart,
} from './settle.ts';
import { providerOf, schedule, WorkQueue } from './work-queue.ts';

/** With so many events waiting for their commit, no more activities start. */
const mostUncommitted = 2048;

/** So many activities are settled by one group of events: a group has room for so many large values. */
const mostTogether = 16;

/** An activity that has ended, and how. */
interface Ended {
  readonly run: ActivityRun;
  readonly outcome: StepOutcome;
  readonly denied: ReadonlyMap<number, string>;
}

/** How a process released a plan. */
export type Release = 'ended' | 'suspended' | 'lost' | 'closed';

/** A plan that this process runs. */
export class LivePlan {
  readonly state: PlanState;
  readonly #host: PlanHost;
  readonly #places: ProviderPlaces;
  readonly #journal: PlanJournal;
  readonly #activities: PlanActivities;
  readonly #queue = new WorkQueue();
  /** Unsafe activities whose start is not committed yet. */
  #starting: { readonly seq: number; readonly activity: Activity }[] = [];
  readonly #running = new Set<ActivityRun>();
  /** Of these, activities that have ended and are not settled yet. */
  readonly #ended: Ended[] = [];
  readonly #reservations: Reservations;
  /** Activities that wait until others have settled what they used. */
  #parked: Activity[] = [];
  readonly #parallelism: number;
  readonly #released = Promise.withResolvers<Release>();
  #isReleased = false;
  #isReleasing = false;
  readonly #alarm: Alarm;

  /** Takes the plan, and starts what can run. */
  constructor(owned: OwnedPlan, host: PlanHost, places: ProviderPlaces) {
    const { state, inbound } = owned;
    const { limits, now, emit, metrics } = host;
    this.state = state;
    this.#host = host;
    this.#places = places;
    this.#alarm = new Alarm(() => this.pump(), now);
    this.#reservations = new Reservations(limits.reserve);
    this.#parallelism = state.created?.terms.maxParallelism ?? limits.maxParallelism;
    const observed = emit === unobserved ? undefined : emitPlan(owned, { emit, now });
    const count = metrics && createPlanCounter(state, metrics);
    this.#activities = {
      state,
      host,
      events: observed,
      onEnd: (run, outcome, denied) => {
        if (this.#ended.push({ run, outcome, denied }) === 1) queueMicrotask(() => this.#settleEnded());
      },
    };
    this.#journal = new PlanJournal(owned, host, {
      onCommit: (events) => {
        observed?.onCommit(events);
        count?.(events);
        this.#afterCommit();
      },
      onLost: (error) => this.#lose(error),
    });
    void this.released.then(() => observed?.leave());
    this.#start(inbound);
  }

  get head(): PlanHead {
    return this.#journal.head;
  }

  /** Resolves when this process no longer has the plan. */
  get released(): Promise<Release> {
    return this.#released.promise;
  }

  /** Starts activities that committed events allow. Lost unsafe ones become questions to a person. */
  #start(inbound: Inbound): void {
    this.state.fresh = [];
    const lost: Activity[] = [];
    for (const activity of schedule(this.state)) {
      if (!isStarted(activity)) this.#queue.add(activity);
      else if (![...this.state.asks.values()].some(({ step }) => step === activity.id)) lost.push(activity);
    }
    if (lost.length > 0) this.#write((draft) => lost.forEach((activity) => settleLostStart(draft, activity)));
    this.take(inbound);
  }

  /** Takes what came from outside. */
  take({ items, taken }: Inbound): void {
    if (items.length > 0) this.#write((draft) => items.forEach((item) => settleInbound(draft, item)), taken);
    this.pump();
  }

  /** Decides and records; what follows is started. */
  #write(decide: (draft: Draft) => void, changes: readonly Change[] = []): void {
    if (this.#isReleased || this.#isReleasing) return;
    const events = this.#journal.write(decide, changes);
    if (events.some(endsOthers)) this.#abortEnded();
    const { fresh } = this.state;
    if (fresh.length > 0) {
      this.state.fresh = [];
      this.#queue.addUncommitted(this.#journal.seq, fresh);
    }
    if (this.state.phase !== 'running') void this.#finish();
  }

  /** Looks at the time and at free places again. */
  pump(): void {
    if (this.#isReleased || this.#isReleasing) return;
    const [now, { dues }] = [this.#host.now(), this.state];
    for (let due = dues[0]; due && due.at <= now; due = dues[0]) {
      const taken = due;
      dues.shift();
      if (isValid(this.state, taken)) this.#write((draft) => fireDue(draft, taken));
    }
    this.#startMore();
    this.#arm();
    if (this.#isIdle()) this.#rest();
  }

  /** Lets go of the plan as it is, as a process does that ends. */
  close(): void {
    this.#release('closed');
  }

  /** Lets go of the plan when all of it is committed; another process then takes it, as it is this instance's still. */
  handOver(): void {
    if (this.#isReleasing || this.#isReleased) return;
    this.#isReleasing = true;
    void this.#journal.flush().then(() => this.#release('closed'), () => undefined);
    for (const run of this.#running) run.abort(failureOf(run.activity));
  }

  #startMore(): void {
    const isFree = (provider: string | undefined): boolean => this.#places.isFree(provider);
    while (!this.state.paused && !this.#isReleasing && this.#free > 0) {
      if (this.#journal.seq - this.#journal.committed > mostUncommitted) return;
      const activity = this.#queue.take(this.#free, isFree);
      if (!activity) return;
      if (isCurrent(activity) && this.#reserve(activity)) this.#begin(activity);
    }
  }

  get #free(): number {
    return this.#parallelism - this.#running.size - this.#starting.length;
  }

  /** Sets aside what the activity may use; otherwise parks it, or fails it when nothing will ever be given back. */
  #reserve(activity: Activity): boolean {
    const lacking = this.#reservations.take(activity.id, activity.agent.account);
    if (!lacking) return true;
    if (this.#free < this.#parallelism) {
      this.#parked.push(activity);
      return false;
    }
    const reason = `${lacking}_limit`;
    const error = failure('budget_exceeded', `Cannot go on: the budget of ${lacking} is used up`, { reason });
    this.#write((draft) => failActivity(draft, activity, { error }));
    return false;
  }

  #begin(activity: Activity): void {
    this.#places.take(providerOf(activity));
    const effect = activity.call?.spec.effect ?? activity.agent.spec.effect ?? 'pure';
    if (effect !== 'unsafe') return this.#run(activity);
    this.#write((draft) => draft.add({ type: 'step.started', step: activity.id, effect }));
    this.#starting.push({ seq: this.#journal.seq, activity });
  }

  #run(activity: Activity): void {
    this.#running.add(new ActivityRun(activity, this.#activities));
  }

  /** Activities that end at the same time are settled together: each group of events has a price. */
  #settleEnded(): void {
    while (this.#ended.length > 0) {
      const together = this.#ended.splice(0, mostTogether);
      this.#write((draft) => together.forEach((ended) => this.#settle(draft, ended)));
      for (const { run } of together) {
        this.#running.delete(run); // only now, or the plan would look as if it had nothing to do
        this.#giveBack(run.activity);
      }
    }
    this.pump();
  }

  #settle(draft: Draft, { run: { activity, seen }, outcome, denied }: Ended): void {
    const { usage } = outcome;
    if (hasEnded(activity.agent)) {
      draft.add({ type: 'step.late', step: activity.id, ...(usage && { usage }) });
      return;
    }
    try {
      settleActivity(draft, activity, { outcome, seen, denied });
    } catch (error) { // the outcome is not JSON, or too large
      reportActivity(this.#activities, activity, error);
      failActivity(draft, activity, { error: toFailure(error), usage });
    }
  }

  /** Frees the places of an activity that has ended. */
  #giveBack(activity: Activity): void {
    this.#reservations.giveBack(activity.id);
    if (this.#parked.length > 0) {
      for (const parked of this.#parked) this.#queue.add(parked);
      this.#parked = [];
    }
    this.#places.free(providerOf(activity));
  }

  #afterCommit(): void {
    if (this.#isReleased || this.#isReleasing) return; // what is committed now is the next owner's to start, or to ask about
    const { committed } = this.#journal;
    this.#queue.commit(committed);
    const recorded = this.#starting.filter(({ seq }) => seq <= committed);
    this.#starting = this.#starting.filter(({ seq }) => seq > committed);
    for (const { activity } of recorded) {
      if (isCurrent(activity)) this.#run(activity);
      else this.#giveBack(activity);
    }
    this.pump();
  }

  #abortEnded(): void {
    for (const run of this.#running) {
      if (hasEnded(run.activity.agent)) run.abort(failureOf(run.activity));
    }
  }

  #isIdle(): boolean {
    return this.#running.size === 0 && this.#starting.length === 0 && this.#queue.uncommitted === 0 &&
      this.#parked.length === 0 && this.#journal.committed === this.#journal.seq &&
      (this.#queue.size === 0 || this.state.paused) && this.state.phase === 'running';
  }

  /** Nothing can be run: the plan is left, unless a timer is near. When nothing is to come either, it could only hang. */
  #rest(): void {
    const { limits, now } = this.#host;
    const next = this.#nextDue();
    if (next === Infinity && this.state.asks.size === 0 && !this.state.paused) {
      this.#write(breakDeadlock);
      return;
    }
    if (next - now() <= limits.lingerMs) return;
    void this.#leave(next);
  }

  /** The next time at which something happens, apart from deadlines; `Infinity` when nothing will. */
  #nextDue(): number {
    const dues = this.state.dues.filter((due) => due.kind !== 'deadline' && isValid(this.state, due));
    return dues.reduce((least, { at }) => Math.min(least, at), Infinity);
  }

  async #leave(dueAt: number): Promise<void> {
    this.#isReleasing = true;
    this.#journal.leave({ ...this.head, status: 'waiting', dueAt: Math.min(dueAt, planDeadlineAt(this.state)) });
    await this.#journal.flush().then(() => this.#release('suspended'), () => undefined);
  }

  async #finish(): Promise<void> {
    if (this.#isReleasing) return;
    this.#isReleasing = true;
    const { phase } = this.state;
    if (phase === 'done' || phase === 'failed' || phase === 'cancelled') {
      this.#journal.leave({ ...this.head, status: phase, endedAt: this.state.at });
    }
    for (const run of this.#running) run.abort(failureOf(run.activity));
    await this.#journal.flush().then(() => this.#release('ended'), () => undefined);
  }

  #arm(): void {
    if (!this.#isReleasing && !this.#isReleased) this.#alarm.set(this.state.dues[0]?.at ?? Infinity);
  }

  #lose(error: PinnaceError): void {
    for (const run of this.#running) run.abort(error);
    this.#release('lost');
  }

  #release(how: Release): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#alarm.clear();
    for (const { activity } of this.#starting) this.#giveBack(activity);
    if (how === 'closed') { for (const run of this.#running) run.abort(failureOf(run.activity)); }
    this.#released.resolve(how);
  }
}

/** Whether the event ends agents besides the one that recorded it. */
function endsOthers({ type }: PlanEvent): boolean {
  return type === 'agent.cancelled' || type === 'agent.failed';
}

/** Whether the start of the activity is recorded; only of unsafe ones. */
function isStarted({ agent, call }: Activity): boolean {
  return call ? call.started : agent.started;
}

/** Whether the activity can still be run: its agent may have ended or continued since. */
function isCurrent({ agent, call, step }: Activity): boolean {
  if (call) return agent.calls?.get(call.id) === call && call.status === 'ready';
  return agent.status === 'ready' && agent.step === step;
}

/** The reason with which the activity of an ended agent is aborted. */
function failureOf({ agent }: Activity): unknown {
  return agent.error ?? failure('cancelled', 'The agent has ended');
}
