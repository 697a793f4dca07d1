/** Schedules as callers see them: what starts runs by itself. */

import type { ErrorData } from '../base/errors.ts';
import type { Page, PageOptions } from '../base/page.ts';
import type { Principal } from '../base/principal.ts';
import type { Money } from '../base/record-fields.ts';
import type { CallerTrace } from '../events/span.ts';

/** Milliseconds since 1970, or ISO text such as `2026-12-01T08:00:00Z`. */
export type TimeInput = number | string;

/** When a schedule is due. */
export type ScheduleWhen =
  /** Five cron fields by the calendar of a time zone (`UTC`). A time that a change of clocks skips comes after it, one that it repeats once. */
  | { readonly cron: string; readonly timeZone?: string | undefined }
  /** At intervals from a time on (that of the creation); at least a minute over HTTP, a second in process. */
  | { readonly everyMs: number; readonly from?: TimeInput | undefined }
  /** Once. */
  | { readonly at: TimeInput }
  /** When a signed request comes to `/v1/hooks/<id>`. Names one secret of the deployment, or two while they are rotated, bound to `code`. */
  | { readonly hook: { readonly secret: string | readonly [string, string] } };

/** What a schedule does, and when. */
export interface ScheduleInput {
  /** The agent that is run. */
  readonly agentId: string;
  /** Names it in lists, up to 200 characters. */
  readonly name: string;
  /** What is said to the agent, up to 32,768 characters. */
  readonly message: string;
  /** Where it is said: in a new stored chat each time (the default), or always in one. */
  readonly chat?: 'new' | { readonly id: string } | undefined;
  /** What each run may use in all. */
  readonly budget?: { readonly tokens?: number | undefined; readonly cost?: Money | undefined } | undefined;
  readonly when: ScheduleWhen;
  /** While the last run goes on: start none (`skip`, the default), start one after it (`queue`), or start all the same (`allow`). */
  readonly overlap?: 'skip' | 'queue' | 'allow' | undefined;
  /** An occurrence that is later than this is missed; of several that are not, the last runs. Default: an hour; at most 7 days. */
  readonly catchUpMs?: number | undefined;
  /** The schedule ends then. Default: in a year. */
  readonly expiresAt?: TimeInput | undefined;
}

/** A schedule. Times are milliseconds since 1970. */
export interface Schedule extends Omit<ScheduleInput, 'chat' | 'overlap' | 'catchUpMs' | 'expiresAt'> {
  readonly id: string;
  /** Whose it is. Its runs have the rights with which this subject has written it last, never more. */
  readonly subject: string;
  readonly chat: 'new' | { readonly id: string };
  readonly overlap: 'skip' | 'queue' | 'allow';
  readonly catchUpMs: number;
  readonly expiresAt: number;
  /** By whom, and why: `requested`, or by the `system` after five refusals or failures in a row (`failures`), or at its end (`expired`). */
  readonly paused?: { readonly by: string; readonly at: number; readonly reason: string } | undefined;
  /** The next three times; empty for a hook, and while it is paused. */
  readonly next: readonly number[];
  /** The last run, and how it has ended; `running` while it goes on. */
  readonly last?: { readonly at: number; readonly runId?: string | undefined; readonly state?: string } | undefined;
  /** Refusals and failures in a row. */
  readonly failures: number;
  /** Counts its changes by people. */
  readonly revision: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What became of an occurrence. */
export interface ScheduleFire {
  /** When it was due. */
  readonly at: number;
  readonly firedAt: number;
  /** `claimed` until the run has started. `missed` and `overlap` started none, `refused` says why in `error`. */
  readonly outcome: 'claimed' | 'started' | 'overlap' | 'missed' | 'refused';
  /** How many occurrences up to `at` it stands for, where these are several. */
  readonly count?: number;
  readonly runId?: string;
  readonly error?: Pick<ErrorData, 'code' | 'message'> & { readonly reason?: string };
}

/** What a call about a schedule may name. */
export interface ScheduleCall {
  readonly trace?: CallerTrace;
  /** The same key creates one schedule of a subject, and starts one run. */
  readonly idempotencyKey?: string;
}

/** A signed event for a schedule with `when: { hook }`: the headers of Standard Webhooks, and the body as it came. */
export interface HookRequest {
  readonly headers: { readonly id: string; readonly timestamp: string; readonly signature: string };
  readonly body: Uint8Array<ArrayBuffer>;
}

/**
 * The schedules of a runtime. A schedule of another subject is `not_found`. Administrators of its tenant may read, pause and delete it;
 * the hook is asked for `schedule.read`, and for `schedule.create`, `.update`, `.pause`, `.resume` and `.delete` of everyone.
 */
export interface Schedules {
  /**
   * Creates a schedule. Rejects with `forbidden` without the scope `run:create` or for an agent that the caller may not run, `not_found` for an
   * unknown agent, `invalid_argument`, and `rate_limited` (`too_many_schedules`): 100 a subject and 1,000 a tenant.
   *
   * @example
   * await runtime.schedules.create({ agentId: 'helper', name: 'News', message: 'What is new?', when: { cron: '0 8 * * mon-fri', timeZone: 'Europe/Berlin' } }, principal);
   */
  create(input: ScheduleInput, principal: Principal, options?: ScheduleCall): Promise<Schedule>;
  /** Lists those of the caller, or with the scope `admin` of another `subject`. */
  list(
    principal: Principal,
    options?: PageOptions & { readonly subject?: string | undefined },
  ): Promise<Page<Schedule>>;
  get(id: string, principal: Principal): Promise<Schedule>;
  /** Changes fields; its runs have the rights of this caller from now on. Rejects with `conflict` (`version_mismatch`) for another `revision`. */
  update(
    id: string,
    change: Partial<ScheduleInput> & { readonly revision?: number | undefined },
    principal: Principal,
    options?: ScheduleCall,
  ): Promise<Schedule>;
  /** Deletes a schedule with its history. Runs under way go on. */
  delete(id: string, principal: Principal, options?: ScheduleCall): Promise<void>;
  pause(id: string, principal: Principal, options?: ScheduleCall): Promise<Schedule>;
  /** Goes on from now: what was due meanwhile is not caught up. */
  resume(id: string, principal: Principal, options?: ScheduleCall): Promise<Schedule>;
  /** Starts a run now, whatever else goes on. For its owner alone. */
  run(id: string, principal: Principal, options?: ScheduleCall): Promise<{ readonly runId: string }>;
  /** What became of its occurrences of the last 30 days, the last one first. */
  fires(id: string, principal: Principal, options?: PageOptions): Promise<Page<ScheduleFire>>;
  /**
   * Starts a run for a signed event, whose body the agent receives as data; the same `webhook-id` starts one. Takes no principal: the
   * signature is the proof. Rejects with `unauthenticated` for an unknown id and for a wrong signature alike, `conflict`
   * (`schedule_paused`), `rate_limited` above 60 a minute, and as the run does.
   */
  receive(id: string, request: HookRequest): Promise<{ readonly runId: string; readonly isKnown: boolean }>;
  /** Whether a subject has any. Needs the scope `admin`. */
  has(subject: string, principal: Principal): Promise<boolean>;
  /** Deletes all schedules of a subject. Needs the scope `admin`. Resolves to how many. */
  erase(subject: string, principal: Principal): Promise<number>;
}

/** A schedule whose times are numbers, or texts as on the wire. */
export type TimedSchedule<T> =
  & Omit<Schedule, 'expiresAt' | 'createdAt' | 'updatedAt' | 'next' | 'paused' | 'last'>
  & { readonly expiresAt: T; readonly createdAt: T; readonly updatedAt: T; readonly next: readonly T[] }
  & { readonly paused?: Omit<NonNullable<Schedule['paused']>, 'at'> & { readonly at: T } | undefined }
  & { readonly last?: Omit<NonNullable<Schedule['last']>, 'at'> & { readonly at: T } | undefined };

/** Returns the schedule with its times in another form. */
export function mapTimes<A extends TimeInput, B extends TimeInput>(
  { when, paused, last, ...schedule }: TimedSchedule<A>,
  to: (time: A) => B,
): TimedSchedule<B> {
  const other = (time: TimeInput): B => to(time as A); // safe: stored and sent in the same form as the other times
  return {
    ...schedule,
    when: 'at' in when
      ? { at: other(when.at) }
      : 'from' in when && when.from !== undefined
      ? { ...when, from: other(when.from) }
      : when,
    next: schedule.next.map(to),
    expiresAt: to(schedule.expiresAt),
    createdAt: to(schedule.createdAt),
    updatedAt: to(schedule.updatedAt),
    ...(paused && { paused: { ...paused, at: to(paused.at) } }),
    ...(last && { last: { ...last, at: to(last.at) } }),
  };
}
