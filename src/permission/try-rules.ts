/** Rules on the past: what they would have said of the calls in recorded events. Nothing is called, and nothing asks. */

import { checkNames, optional, wrongArgument } from '../base/check-options.ts';
import { createTurns } from '../base/turns.ts';
import { isRecord } from '../base/is-record.ts';
import { type ArgumentFacts, createPrincipal } from '../base/principal.ts';
import type { Authorize, CallContextFacts } from '../contracts/authenticator.ts';
import type { ObservedEvent } from '../contracts/event-sink.ts';
import { readSummary } from '../events/payload-summary.ts';
import { join, type Label, labelOf, parseLabel } from './label.ts';
import { createRules, type RuleInput, type RuleOptions } from './rules.ts';
import { allAsRead } from './run-facts.ts';

/** The parts of an event that a rule is tried on; audit records have them as well. */
export type TriedEvent =
  & Pick<ObservedEvent, 'action' | 'actor' | 'target' | 'payloadSummary' | 'status' | 'traceId' | 'timestamp'>
  & {
    readonly tenant?: string | undefined;
  };

/** What the rules would have said of a call. */
export interface TriedCall {
  /** The index of its event. */
  readonly at: number;
  readonly tool: string;
  readonly agentId: string | undefined;
  /** Of its run. */
  readonly traceId: string;
  /** When the call ended, as its event says. */
  readonly timestamp: string;
  /** How the call ended. */
  readonly status: ObservedEvent['status'];
  /** `unknown`: a rule depends on what events do not have, such as values of the input, scopes and roles. */
  readonly decision: 'allow' | 'ask' | 'deny' | 'unknown';
  /** The rule that says so. */
  readonly reason?: string;
}

/** Which of the recorded calls rules are tried on, and how the work is followed. */
export interface TryRulesOptions extends Pick<RuleOptions, 'otherwise'> {
  /** Calls that ended at this time or later, as ISO 8601 or a `Date`. */
  readonly since?: string | Date | undefined;
  /** Calls that ended before this time. */
  readonly until?: string | Date | undefined;
  /** The calls of these agents alone. */
  readonly agents?: readonly string[] | undefined;
  /** Stops the work. */
  readonly signal?: AbortSignal | undefined;
  /** Is called at most every few milliseconds, with how many events were read and how many calls were tried. */
  readonly onProgress?: ((progress: { readonly events: number; readonly calls: number }) => void) | undefined;
}

/**
 * Says of each call in these events what the rules would have answered, the calls in their order. Events are those of one run or of
 * many, each of them from its start. They have facts of a call and never its input: a rule that depends on a value may be `unknown`.
 *
 * @throws PinnaceError `invalid_argument` as `createRules` does, and for a time that is none; `cancelled` by the signal.
 * @example
 * const rules = [...guardRules('watched'), { effect: 'allow', actions: ['*'] }];
 * const tried = await tryRules(rules, runtime.events.recent(), { since: '2026-01-01', agents: ['clerk'] });
 * const stopped = tried.filter(({ decision }) => decision === 'ask' || decision === 'deny');
 */
export async function tryRules(
  rules: readonly RuleInput[],
  events: Iterable<TriedEvent> | AsyncIterable<TriedEvent>,
  options: TryRulesOptions = {},
): Promise<readonly TriedCall[]> {
  const names = ['otherwise', 'since', 'until', 'agents', 'signal', 'onProgress'] as const;
  checkNames('try the rules', options, optional(...names));
  const { agents, signal, onProgress, otherwise = 'deny' } = options;
  const [since, until] = [timeOf('since', options.since) ?? -Infinity, timeOf('until', options.until) ?? Infinity];
  const ruleOn = trial(rules, { otherwise });
  const tried: TriedCall[] = [];
  const called = new Map<string, Record<string, number>>();
  const turns = createTurns(signal);
  let at = -1;
  for await (const event of events) {
    at += 1;
    const turn = turns.next();
    if (turn) {
      onProgress?.({ events: at, calls: tried.length });
      await turn;
    }
    if (event.action !== 'tool.call' || event.status === 'pending' || event.target.type !== 'tool') continue;
    const { traceId, status, timestamp, target: { id: tool } } = event;
    let calls = called.get(traceId);
    if (!calls) called.set(traceId, calls = {});
    const agentId = agentOf(event);
    const time = Date.parse(timestamp);
    const isMeant = !agents || (agentId !== undefined && agents.includes(agentId));
    if (isMeant && !(time < since) && !(time >= until)) {
      tried.push({ at, tool, agentId, traceId, timestamp, status, ...await ruleOn(event, calls) });
    }
    calls[tool] = (calls[tool] ?? 0) + 1;
  }
  onProgress?.({ events: at + 1, calls: tried.length });
  return tried;
}

function timeOf(name: string, time: string | Date | undefined): number | undefined {
  const ms = time === undefined ? undefined : time instanceof Date ? time.getTime() : Date.parse(time);
  if (Number.isNaN(ms)) {
    throw wrongArgument('try the rules', name, `"${name}" must be a time, such as 2026-01-31T12:00Z`);
  }
  return ms;
}

/** The rules that can be judged decide, unless one that cannot would decide otherwise if all that is unknown held. */
function trial(rules: readonly RuleInput[], options: Pick<RuleOptions, 'otherwise'>) {
  createRules(rules, options); // all of them must be rules
  const named = rules.map((rule, index): RuleInput => ({ id: String(index), ...rule }));
  const hooksFor = (hasSubject: boolean, hasFacts: boolean): readonly [sure: Authorize, most: Authorize] => {
    const missing = (rule: RuleInput): boolean =>
      (rule.when?.length ?? 0) > 0 || rule.scopes !== undefined || rule.roles !== undefined ||
      rule.resourceTenants !== undefined || rule.resourceSubjects !== undefined ||
      (rule.subjects !== undefined && !hasSubject) || (rule.acts !== undefined && !hasFacts) ||
      (rule.from?.some(({ at }) => at !== '*' && at !== 'destinations') === true);
    return [
      createRules(named.filter((rule) => !missing(rule)), options),
      createRules(named.map((rule) => missing(rule) ? withoutUnknown(rule, hasFacts) : rule), options),
    ];
  };
  const [without, withSubject] = [false, true].map((has) => [hooksFor(has, false), hooksFor(has, true)] as const);
  return async (
    event: TriedEvent,
    calls: Readonly<Record<string, number>>,
  ): Promise<Pick<TriedCall, 'decision' | 'reason'>> => {
    const payload = readSummary(event.payloadSummary);
    const { facts, isKnown } = factsOf(payload, calls);
    const agentId = agentOf(event);
    const context = { facts, ...(agentId !== undefined && { agentId }) };
    const [ask, askMost] = (payload['subject'] === undefined ? without : withSubject)![isKnown ? 1 : 0];
    const wish = ['tool.call', callerOf(event, payload), { type: 'tool', id: event.target.id }, context] as const;
    const [sure, { decision, reason }] = [await ask(...wish), await askMost(...wish)];
    return { decision: decision === sure.decision ? decision : 'unknown', ...(reason !== undefined && { reason }) };
  };
}

function withoutUnknown(
  { when: _, scopes: __, roles: ___, resourceTenants: _t, resourceSubjects: _s, subjects: ____, acts, from, ...rule }:
    RuleInput,
  isKnown: boolean,
): RuleInput {
  const places = from?.filter(({ at }) => at === '*' || at === 'destinations') ?? [];
  return { ...rule, ...(isKnown && acts !== undefined && { acts }), ...(places.length > 0 && { from: places }) };
}

function agentOf({ actor, payloadSummary }: TriedEvent): string | undefined {
  if (actor.type === 'agent') return actor.id;
  const agent = readSummary(payloadSummary)['agent'];
  return typeof agent === 'string' ? agent : undefined;
}

function callerOf({ tenant = 'unknown' }: TriedEvent, payload: ReturnType<typeof readSummary>) {
  const subject = String(payload['subject'] ?? 'unknown');
  return createPrincipal({ via: 'in-process', tenant, subject, agents: '*', scopes: [] });
}

/** Reads what `noteOfFacts` has written. A call without facts has read nothing of others. */
function factsOf(
  payload: ReturnType<typeof readSummary>,
  calls: Readonly<Record<string, number>>,
): { readonly facts: CallContextFacts; readonly isKnown: boolean } {
  const { read, readers } = payload;
  const label = read !== undefined
    ? parseLabel({ from: String(read).split(' ').filter((one) => one !== ''), readers })
    : labelOf([], 'public');
  const to = jsonOf(payload['to']);
  return {
    isKnown: payload['acts'] !== undefined,
    facts: {
      read: label.from,
      readers: label.readers,
      calls,
      args: payload['args'] === allAsRead ? { '': label } : argsOf(jsonOf(payload['args']), label.readers),
      acts: payload['acts'] === 'true',
      leaks: payload['leaks'] === 'true',
      destinations: Array.isArray(to) ? to.map(String) : [],
      planned: false,
    },
  };
}

function argsOf(data: unknown, readers: CallContextFacts['readers']): Readonly<Record<string, ArgumentFacts>> {
  if (!isRecord(data)) return {};
  const args = new Map<string, Label>();
  for (const [sources, places] of Object.entries(data)) {
    const narrow = sources.endsWith(' ?');
    const label = labelOf((narrow ? sources.slice(0, -2) : sources).split(' '), readers, narrow);
    // Values from several sources may be in one place.
    for (const place of Array.isArray(places) ? places.map(String) : []) {
      args.set(place, join(args.get(place) ?? label, label));
    }
  }
  return Object.fromEntries(args);
}

function jsonOf(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}
