/** Rules on the past: what they would have said of the calls in recorded events. Nothing is called, and nothing asks. */

import { checkNames, optional } from '../base/check-options.ts';
import { isRecord } from '../base/is-record.ts';
import { type ArgumentFacts, createPrincipal } from '../base/principal.ts';
import type { CallContextFacts } from '../contracts/authenticator.ts';
import type { ObservedEvent } from '../contracts/event-sink.ts';
import { readSummary } from '../events/payload-summary.ts';
import { join, type Label, labelOf, parseLabel } from './label.ts';
import { createRules, type RuleInput, type RuleOptions } from './rules.ts';

/** The parts of an event that a rule is tried on; audit records have them as well. */
export type TriedEvent =
  & Pick<ObservedEvent, 'action' | 'actor' | 'target' | 'payloadSummary' | 'status' | 'traceId'>
  & {
    readonly tenant?: string | undefined;
  };

/** What the rules would have said of a call. */
export interface TriedCall {
  /** The index of its event. */
  readonly at: number;
  readonly tool: string;
  readonly agentId: string | undefined;
  readonly traceId: string;
  /** How the call ended. */
  readonly status: ObservedEvent['status'];
  /** `unknown`: a rule depends on what events do not have, such as values of the input, scopes and roles. */
  readonly decision: 'allow' | 'ask' | 'deny' | 'unknown';
  /** The rule that says so. */
  readonly reason?: string;
}

/**
 * Says of each call in these events what the rules would have answered, the calls in their order. Events have facts of a call and never
 * its input: a rule that depends on a value may be `unknown`.
 *
 * @throws PinnaceError `invalid_argument` as `createRules` does.
 * @example
 * const tried = await tryRules([...guardRules('watched'), { effect: 'allow', actions: ['*'] }], runtime.events.recent());
 * const stopped = tried.filter(({ decision }) => decision === 'ask' || decision === 'deny');
 */
export async function tryRules(
  rules: readonly RuleInput[],
  events: Iterable<TriedEvent>,
  options: Pick<RuleOptions, 'otherwise'> = {},
): Promise<readonly TriedCall[]> {
  checkNames('try the rules', options, optional('otherwise'));
  createRules(rules, options); // all of them must be rules
  const tried: TriedCall[] = [];
  const called = new Map<string, Record<string, number>>();
  for (const [at, event] of [...events].entries()) {
    if (event.action !== 'tool.call' || event.status === 'pending' || event.target.type !== 'tool') continue;
    const before = called.get(event.traceId) ?? {};
    const ruling = await ruleOn(event, { rules, options, calls: { ...before } });
    const { traceId, status, target: { id: tool } } = event;
    tried.push({ at, tool, agentId: agentOf(event), traceId, status, ...ruling });
    called.set(traceId, { ...before, [tool]: (before[tool] ?? 0) + 1 });
  }
  return tried;
}

interface Trial {
  readonly rules: readonly RuleInput[];
  readonly options: Pick<RuleOptions, 'otherwise'>;
  readonly calls: Readonly<Record<string, number>>;
}

/** The rules that can be judged decide, unless one that cannot would decide otherwise if all that is unknown held. */
async function ruleOn(
  event: TriedEvent,
  { rules, options, calls }: Trial,
): Promise<Pick<TriedCall, 'decision' | 'reason'>> {
  const payload = readSummary(event.payloadSummary);
  const facts = factsOf(payload, calls);
  const named = rules.map((rule, index): RuleInput => ({ id: String(index), ...rule }));
  const missing = (rule: RuleInput): boolean =>
    (rule.when?.length ?? 0) > 0 || rule.scopes !== undefined || rule.roles !== undefined ||
    rule.resourceTenants !== undefined || rule.resourceSubjects !== undefined ||
    (rule.subjects !== undefined && payload['subject'] === undefined) || (rule.acts !== undefined && !facts.isKnown) ||
    (rule.from?.some(({ at }) => at !== '*' && at !== 'destinations') === true);
  const agentId = agentOf(event);
  const context = { facts: facts.facts, ...(agentId !== undefined && { agentId }) };
  const resource = { type: 'tool', id: event.target.id };
  const ask = async (list: readonly RuleInput[]) =>
    await createRules(list, options)('tool.call', callerOf(event, payload), resource, context);
  const sure = await ask(named.filter((rule) => !missing(rule)));
  const most = await ask(named.map((rule) => missing(rule) ? withoutUnknown(rule, facts.isKnown) : rule));
  const { decision, reason } = most;
  if (decision === sure.decision) return { decision, ...(reason !== undefined && { reason }) };
  return { decision: 'unknown', ...(reason !== undefined && { reason }) };
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
      args: argsOf(jsonOf(payload['args']), label.readers),
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
