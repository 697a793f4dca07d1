/** A plan that this process runs: starts what the state allows, records the outcomes, and releases the plan when nothing can run. */

import type { PinnaceError } from '../../base/errors.ts';
import type { Draft } from '../decide/draft.ts';
import { createGate } from '../decide/gate.ts';
import { createReadyQueue } from '../decide/ready-queue.ts';
import { createReservations, type Reservations } from '../decide/reservations.ts';
import { schedule } from '../decide/schedule.ts';
import { settleLostStart } from '../decide/settle-ask.ts';
import { fireDue, isValid } from '../decide/settle-due.ts';
import { breakDeadlock, settleInbound } from '../decide/settle-inbound.ts';
import { failActivity, settleActivity } from '../decide/settle-step.ts';
import { openPlanJournal, type PlanJournal } from '../journal/plan-journal.ts';
import type { Inbound, PlanHead } from '../journal/plan-record.ts';
import { failure, toFailure } from '../model/failure.ts';
import { planDeadlineAt } from '../model/plan-clock.ts';
import { type Activity, hasEnded, type PlanState } from '../model/plan-state.ts';
import { createAlarm } from './alarm.ts';
import { type ActivityRun, type ActivityRunOptions, reportActivity, startActivity } from './activity-run.ts';
import { endsOthers, failureOf, isCurrent, isStarted, providerOf } from './activity-state.ts';
import type { LivePlan, LivePlanOptions, Release } from './live-plan-options.ts';
import type { StepOutcome } from './run-agent.ts';

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

/** Creates a live plan and starts what can run. */
export function runPlan(options: LivePlanOptions): LivePlan {
  const plan = new Plan(options);
  plan.start();
  return plan;
}

class Plan implements LivePlan {
  readonly state: PlanState;
  readonly #options: LivePlanOptions;
  readonly #journal: PlanJournal;
  readonly #queue = createReadyQueue();
  readonly #gate = createGate();
  /** Unsafe activities whose start is not committed yet. */
  #starting: { readonly seq: number; readonly activity: Activity }[] = [];
  readonly #running = new Set<ActivityRun>();
  /** Of these, activities that have ended and are not settled yet. */
  readonly #ended: Ended[] = [];
  readonly #reservations: Reservations;
  /** Activities that wait until others have settled what they used. */
  #parked: Activity[] = [];
  readonly #parallelism: number;
  readonly #runOptions: ActivityRunOptions;
  readonly #released = Promise.withResolvers<Release>();
  #isReleased = false;
  #isReleasing = false;
  readonly #alarm: ReturnType<typeof createAlarm>;
  #heartbeat: ReturnType<typeof setInterval>;

  constructor(options: LivePlanOptions) {
    const { state, limits, now, events: observed, counting } = options;
    this.state = state;
    this.#options = options;
    this.#alarm = createAlarm(() => this.pump(), now);
    const terms = state.created?.terms;
    const { storage, runAgent, authorize, report } = options;
    const onEnd: ActivityRunOptions['onEnd'] = (run, outcome, denied) => {
      if (this.#ended.push({ run, outcome, denied }) === 1) queueMicrotask(() => this.#settleEnded());
    };
    const { reserve } = limits;
    this.#runOptions = { state, storage, runAgent, authorize, report, reserve, events: observed, onEnd };
    this.#reservations = createReservations(limits.reserve);
    this.#parallelism = terms?.maxParallelism ?? limits.maxParallelism;
    this.#journal = openPlanJournal({
      ...options,
      settings: {
        allowHuman: terms?.allowHumanIntervention === true,
        maxDepth: terms?.maxDepth ?? limits.maxDepth,
        askMs: limits.askMs,
        stallAfter: terms?.stallAfter ?? limits.stallAfter,
      },
      ttlMs: limits.retentionMs,
      graceMs: Math.min(limits.storageGraceMs, limits.leaseMs / 3),
      snapshots: { ...options.snapshots, every: limits.snapshotEvents },
      onCommit: (events) => {
        observed?.onCommit(events);
        counting?.(events);
        this.#afterCommit();
      },
      onLost: (error) => this.#lose(error),
    });
    this.#heartbeat = setInterval(() => this.#beat(), limits.leaseMs / 3);
    this.#journal.setHead({ ...this.#journal.head, status: 'running', dueAt: now() + limits.leaseMs });
  }

  get head(): PlanHead {
    return this.#journal.head;
  }

  get committed(): number {
    return this.#journal.committed;
  }

  get released(): Promise<Release> {
    return this.#released.promise;
  }

  /** Starts activities that committed events allow. Lost unsafe ones become questions to a person. */
  start(): void {
    this.state.fresh = [];
    const lost: Activity[] = [];
    for (const activity of schedule(this.state)) {
      if (!isStarted(activity)) this.#queue.add(activity);
      else if (![...this.state.asks.values()].some(({ step }) => step === activity.id)) lost.push(activity);
    }
    if (lost.length > 0) this.write((draft) => lost.forEach((activity) => settleLostStart(draft, activity)));
    this.#record(this.#options.inbound);
    this.pump();
  }

  write(decide: (draft: Draft) => void, changes: Parameters<PlanJournal['write']>[1] = []): void {
    if (this.#isReleased || this.#isReleasing) return;
    const events = this.#journal.write(decide, changes);
    if (events.some(endsOthers)) this.#abortEnded();
    const { fresh } = this.state;
    if (fresh.length > 0) {
      this.state.fresh = [];
      this.#gate.add(this.#journal.seq, fresh);
    }
    if (this.state.phase !== 'running') void this.#finish();
  }

  take(inbound: Inbound): void {
    this.#record(inbound);
    this.pump();
  }

  #record({ items, taken }: Inbound): void {
    if (items.length > 0) this.write((draft) => items.forEach((item) => settleInbound(draft, item)), taken);
  }

  pump(): void {
    if (this.#isReleased || this.#isReleasing) return;
    const now = this.#options.now();
    for (let due = this.state.dues.peek(); due && due.at <= now; due = this.state.dues.peek()) {
      const taken = due;
      this.state.dues.take();
      if (isValid(this.state, taken)) this.write((draft) => fireDue(draft, taken));
    }
    this.#startMore();
    this.#arm();
    if (this.#isIdle()) this.#rest();
  }

  close(): void {
    this.#release('closed');
  }

  #startMore(): void {
    const { places } = this.#options;
    const isFree = (provider: string | undefined): boolean => places.isFree(provider);
    while (!this.state.paused && !this.#isReleasing && this.#free > 0) {
      if (this.#journal.seq - this.#journal.committed > mostUncommitted) return;
      const activity = this.#queue.take(isFree, this.#gate.leastRank(this.#free));
      if (!activity) return;
      if (isCurrent(activity) && this.#reserve(activity)) this.#start(activity);
    }
  }

  get #free(): number {
    return this.#parallelism - this.#running.size - this.#starting.length;
  }

  /** Sets aside what the activity may use; otherwise parks it, or fails it when nothing will ever be given back. */
  #reserve(activity: Activity): boolean {
    const lacking = this.#reservations.take(activity);
    if (!lacking) return true;
    if (this.#free < this.#parallelism) {
      this.#parked.push(activity);
      return false;
    }
    const reason = `${lacking}_limit`;
    const error = failure('budget_exceeded', `Cannot go on: the budget of ${lacking} is used up`, { reason });
    this.write((draft) => failActivity(draft, activity, { error }));
    return false;
  }

  #start(activity: Activity): void {
    this.#options.places.take(providerOf(activity));
    const effect = activity.call?.spec.effect ?? activity.agent.spec.effect ?? 'pure';
    if (effect !== 'unsafe') return this.#run(activity);
    this.write((draft) => draft.add({ type: 'step.started', step: activity.id, effect }));
    this.#starting.push({ seq: this.#journal.seq, activity });
  }

  #run(activity: Activity): void {
    this.#running.add(startActivity(activity, this.#runOptions));
  }

  /** Activities that end at the same time are settled together: each group of events has a price. */
  #settleEnded(): void {
    while (this.#ended.length > 0) {
      const together = this.#ended.splice(0, mostTogether);
      this.write((draft) => together.forEach((ended) => this.#settle(draft, ended)));
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
      reportActivity(this.#runOptions, activity, error);
      failActivity(draft, activity, { error: toFailure(error), usage });
    }
  }

  /** Frees the places of an activity that has ended. */
  #giveBack(activity: Activity): void {
    this.#reservations.giveBack(activity);
    if (this.#parked.length > 0) {
      for (const parked of this.#parked) this.#queue.add(parked);
      this.#parked = [];
    }
    this.#options.places.free(providerOf(activity));
  }

  #afterCommit(): void {
    if (this.#isReleased) return; // what was committed meanwhile is the next owner's to start, or to ask about
    const { committed } = this.#journal;
    for (const activity of this.#gate.open(committed)) this.#queue.add(activity);
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
    return this.#running.size === 0 && this.#starting.length === 0 && this.#gate.size === 0 &&
      this.#parked.length === 0 && this.#journal.committed === this.#journal.seq &&
      (this.#queue.size === 0 || this.state.paused) && this.state.phase === 'running';
  }

  /** Nothing can be run: the plan is left, unless a timer is near. When nothing is to come either, it could only hang. */
  #rest(): void {
    const { limits, now } = this.#options;
    const next = this.#nextDue();
    if (next === Infinity && this.state.asks.size === 0 && !this.state.paused) {
      this.write(breakDeadlock);
      return;
    }
    if (next - now() <= limits.lingerMs) return;
    void this.#leave(next);
  }

  /** The next time at which something happens, apart from deadlines; `Infinity` when nothing will. */
  #nextDue(): number {
    const dues = this.state.dues.all().filter((due) => due.kind !== 'deadline' && isValid(this.state, due));
    return dues.reduce((least, { at }) => Math.min(least, at), Infinity);
  }

  async #leave(dueAt: number): Promise<void> {
    this.#isReleasing = true;
    this.#journal.setHead({ ...this.head, status: 'waiting', dueAt: Math.min(dueAt, planDeadlineAt(this.state)) });
    await this.#journal.flush().then(() => this.#release('suspended'), () => undefined);
  }

  async #finish(): Promise<void> {
    if (this.#isReleasing) return;
    this.#isReleasing = true;
    const { phase } = this.state;
    const { dueAt: _, ...head } = this.head;
    if (phase === 'done' || phase === 'failed' || phase === 'cancelled') {
      this.#journal.setHead({ ...head, status: phase, endedAt: this.state.at });
    }
    for (const run of this.#running) run.abort(failureOf(run.activity));
    await this.#journal.flush().then(() => this.#release('ended'), () => undefined);
  }

  #beat(): void {
    if (this.#isReleasing) return;
    this.#journal.setHead({ ...this.head, dueAt: this.#options.now() + this.#options.limits.leaseMs });
  }

  #arm(): void {
    if (!this.#isReleasing && !this.#isReleased) this.#alarm.set(this.state.dues.peek()?.at ?? Infinity);
  }

  #lose(error: PinnaceError): void {
    for (const run of this.#running) run.abort(error);
    this.#release('lost');
  }

  #release(how: Release): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#alarm.clear();
    clearInterval(this.#heartbeat);
    for (const { activity } of this.#starting) this.#giveBack(activity);
    if (how === 'closed') { for (const run of this.#running) run.abort(failureOf(run.activity)); }
    this.#released.resolve(how);
  }
}
