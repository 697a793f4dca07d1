/** Permissions as data: rules for an `authorize` hook. */

import { checkNames, checkOptions, optional } from '../base/check-options.ts';
import * as v from 'valibot';
import { PinnaceError, toPinnaceError } from '../base/errors.ts';
import { pointerForm, readPointer } from '../base/json.ts';
import { parse } from '../base/parse.ts';
import type { Authorization, Authorize, CallContextFacts } from '../contracts/authenticator.ts';
import { compileCondition, type Finding, RuleCondition } from './rule-condition.ts';
import type { ArgumentFacts, Principal } from '../base/principal.ts';
import { type ApprovalTerms, mostApprovers } from './authorize.ts';
import { overlaps } from './label.ts';
import { approverName, type OwnedRecord, owns } from './ownership.ts';

const Name = v.pipe(v.string(), v.minLength(1), v.maxLength(300));
/** Whole names, or prefixes followed by `*`. */
const Names = v.pipe(
  v.array(v.pipe(Name, v.regex(/^[^*]*\*?$/, 'must have "*" at its end alone'))),
  v.minLength(1),
  v.maxLength(1000),
);

/** Where an argument is from. */
const FromCondition = v.strictObject({
  /** `destinations`, `*` for any argument, or a JSON Pointer into the input. */
  at: v.pipe(
    v.string(),
    v.maxLength(500),
    v.check(
      (at) => at === 'destinations' || at === '*' || pointerForm.test(at),
      'must be "destinations", "*" or a JSON Pointer',
    ),
  ),
  /** Sources, as `mcp:mail` and `file:*`; `*` is every value that the user or the operator has not written. */
  sources: Names,
  /** Lets a value pass that a stranger has only chosen, among a few of the operator. */
  narrow: v.optional(v.boolean(), false),
});

/** One rule. Absent fields match everything: a rule with only `effect` and `actions` applies to every caller. */
export const Rule = v.strictObject({
  /** Its name in decisions; its index among the rules when absent. */
  id: v.optional(v.pipe(v.string(), v.regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, "_", "." or "-"'))),
  /** `ask`: a person must approve. */
  effect: v.picklist(['allow', 'deny', 'ask']),
  /** For example `tool.call`, `registry.*` or `*`. */
  actions: Names,
  /** The tenants of the callers. */
  tenants: v.optional(Names),
  /** The callers. */
  subjects: v.optional(Names),
  /** The caller has at least one of these scopes. */
  scopes: v.optional(Names),
  /** The caller has at least one of these roles: those of the principal, and of `rolesOf`. */
  roles: v.optional(Names),
  /** The acting agents. */
  agents: v.optional(Names),
  /** The resources, for example `tool:crm_*` or `agent:helper`. */
  resources: v.optional(Names),
  /** The tenants of the target record. Shared records have none. */
  resourceTenants: v.optional(Names),
  /** The owners of the target record: names, or `$self` for the caller's own. Targets without an owner have none. */
  resourceSubjects: v.optional(Names),
  /** For `ask`: who decides in place of the owner, as `role:finance`, `subject:bo` or `actor:bo`; at most 5. */
  approvers: v.optional(
    v.pipe(
      v.array(v.pipe(v.string(), v.regex(approverName, 'must start with "subject:", "role:" or "actor:"'))),
      v.minLength(1),
      v.maxLength(mostApprovers),
    ),
  ),
  /** For `ask`: the person who has asked does not decide. */
  fourEyes: v.optional(v.literal(true)),
  /** For `ask`: `false` where who decides must not change the input. */
  edit: v.optional(v.literal(false)),
  /** For `ask`: a shorter time to decide than `limits.approvalMs`, in milliseconds. */
  withinMs: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1000))),
  /** The tool may act, or only reads. */
  acts: v.optional(v.boolean()),
  /** For `ask` and `deny`: the run has read one of these: `untrusted`, `private`, or sources as `mcp:*` and `data-source:mails`. */
  read: v.optional(Names),
  /** One of these tools was called earlier in the run. */
  called: v.optional(Names),
  /** For `ask` and `deny`: in each of these places is a value that one of the sources has said. */
  from: v.optional(v.pipe(v.array(FromCondition), v.minLength(1), v.maxLength(20))),
  /** A value goes to more people than may read it: `true` for `ask` and `deny`, `false` for `allow`. */
  leaks: v.optional(v.boolean()),
  /** All conditions must hold for the input. */
  when: v.optional(v.pipe(v.array(RuleCondition), v.maxLength(50)), []),
  /** Sent with a denial, or shown to the approver. */
  reason: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(300))),
});
export type Rule = v.InferOutput<typeof Rule>;

/** A rule before parsing. */
export type RuleInput = v.InferInput<typeof Rule>;

/** The options of rules. */
export interface RuleOptions {
  /** The effect when no rule matches; `deny` when absent. */
  readonly otherwise?: 'allow' | 'deny';
  /**
   * Returns further roles of a caller. When it throws, the call is denied.
   *
   * @deprecated Roles are facts of the principal: name them in the certificate, in the token's record or in `principalOf`.
   */
  readonly rolesOf?: (principal: Principal) => readonly string[] | Promise<readonly string[]>;
}

/**
 * Creates an `authorize` hook from rules. Among matching rules, `deny` beats `ask` and `ask` beats `allow`, in any order: adding a rule
 * cannot undo a denial. Among equal effects the first rule is named. An input whose value has another type than a condition expects is
 * denied, if the rest of that rule matches.
 *
 * @throws PinnaceError `invalid_argument` that names the rule, for an invalid rule or a repeated id.
 * @example
 * createRules([
 *   { effect: 'allow', actions: ['tool.call'], agents: ['support'], resources: ['tool:crm_*'] },
 *   { id: 'large-refunds', effect: 'ask', actions: ['tool.call'], resources: ['tool:crm_refund'], when: [{ at: '/amount', gt: 100 }] },
 * ]);
 */
export function createRules(
  rules: readonly RuleInput[],
  options: RuleOptions = {},
): Authorize {
  checkNames('create the rules', options, optional('otherwise', 'rolesOf'));
  const { otherwise = 'deny', rolesOf } = options;
  checkOptions('create the rules', { rules }, { rules: ['array', 'an array of rules'] });
  const compiled = rules.map(compileRule);
  requireDistinct(compiled);
  const needsRoles = rolesOf && rules.some(({ roles }) => roles !== undefined);
  const needsFacts = compiled.some((rule) => rule.needsFacts);
  const judge = (roles: readonly string[], ...[action, principal, resource, context]: Parameters<Authorize>) => {
    const { type, id, tenant, subject } = resource;
    const { input, agentId } = context;
    const request: RequestFacts = {
      action,
      principal,
      resource: `${type}:${id}`,
      resourceTenant: tenant,
      resourceSubjects: subjectsOf({ tenant: tenant ?? principal.tenant, subject }, principal),
      agentId,
      roles,
      facts: needsFacts && action === 'tool.call' ? context.facts : undefined, // they are made when they are read
    };
    const speaking = compiled.flatMap((rule) =>
      rule.isAbout(request) ? [{ rule, finding: rule.judge(input, request.facts) }] : []
    );
    return decide(speaking, otherwise);
  };
  // Without roles to wait for it answers at once: who asks it needs no timer.
  if (!needsRoles) return (...wish) => judge(wish[1].roles ?? [], ...wish);
  return async (...wish) => judge([...wish[1].roles ?? [], ...await rolesOf(wish[1])], ...wish);
}

/** Stands for the caller's own records: no subject has a control character in its name. */
const self = '\0self';

function subjectsOf({ tenant, subject }: OwnedRecord, principal: Principal): readonly string[] {
  if (subject === undefined) return [];
  return owns(principal, { tenant, subject }) ? [subject, self] : [subject];
}

/** The request. */
interface RequestFacts {
  readonly action: string;
  readonly principal: Principal;
  readonly resource: string;
  readonly resourceTenant: string | undefined;
  readonly resourceSubjects: readonly string[];
  readonly agentId: string | undefined;
  readonly roles: readonly string[];
  readonly facts: CallContextFacts | undefined;
}

interface CompiledRule {
  readonly name: string;
  readonly effect: Rule['effect'];
  readonly reason: string;
  readonly approvers: readonly string[] | undefined;
  readonly fourEyes: true | undefined;
  readonly withinMs: number | undefined;
  readonly edit: false | undefined;
  readonly isAbout: (request: RequestFacts) => boolean;
  readonly needsFacts: boolean;
  readonly judge: (input: unknown, facts: CallContextFacts | undefined) => Finding;
}

interface Speaking {
  readonly rule: CompiledRule;
  readonly finding: Finding;
}

function decide(speaking: readonly Speaking[], otherwise: 'allow' | 'deny'): Authorization {
  const unfit = speaking.find(({ finding }) => finding === 'unfit');
  if (unfit) return { decision: 'deny', reason: `rule "${unfit.rule.name}" cannot judge this input` };
  for (const decision of ['deny', 'ask', 'allow'] as const) {
    const found = speaking.find(({ rule, finding }) => finding === 'holds' && rule.effect === decision);
    if (found) return { decision, reason: found.rule.reason, ...(decision === 'ask' && termsOf(speaking)) };
  }
  return otherwise === 'allow' ? { decision: 'allow' } : { decision: 'deny', reason: 'no rule allows it' };
}

/** Every rule that asks counts, in any order: those who decide are named by all that name some. */
function termsOf(speaking: readonly Speaking[]): ApprovalTerms {
  const asking = speaking.filter(({ rule, finding }) => finding === 'holds' && rule.effect === 'ask');
  const named = asking.flatMap(({ rule: { approvers } }) => approvers ? [approvers] : []);
  const approvers = named[0]?.filter((name) => named.every((names) => names.includes(name)));
  const withinMs = Math.min(...asking.map(({ rule }) => rule.withinMs ?? Infinity));
  return {
    ...(approvers && { approvers }),
    ...(asking.some(({ rule }) => rule.fourEyes) && { fourEyes: true }),
    ...(withinMs !== Infinity && { withinMs }),
    ...(asking.some(({ rule }) => rule.edit === false) && { edit: false }),
  };
}

function compileRule(given: RuleInput, index: number): CompiledRule {
  const rule = readRule(given, index);
  const { id = String(index), effect, reason, when, approvers, fourEyes, withinMs, edit } = rule;
  const isAbout = aboutness(rule);
  const conditions = when.map(compileCondition);
  const judgeFacts = compileFacts(rule);
  return {
    name: id,
    effect,
    reason: `rule "${id}"${reason === undefined ? '' : `: ${reason}`}`,
    approvers,
    fourEyes,
    withinMs,
    edit,
    needsFacts: judgeFacts !== undefined,
    isAbout: judgeFacts ? (request) => request.action === 'tool.call' && isAbout(request) : isAbout,
    judge(input, facts) {
      let finding: Finding = 'holds';
      for (const condition of conditions) finding = both(finding, condition(input));
      return judgeFacts ? both(finding, facts ? judgeFacts(input, facts) : 'unfit') : finding;
    },
  };
}

/** What cannot be judged counts more than what fails: its rule may hold. */
function both(one: Finding, other: Finding): Finding {
  return one === 'unfit' || other === 'unfit' ? 'unfit' : one === 'fails' ? one : other;
}

/** Whether a rule is about a request. Looks only at what the rule names. */
function aboutness(rule: Rule): (request: RequestFacts) => boolean {
  const owners = rule.resourceSubjects?.map((name) => name === '$self' ? self : name);
  const tests = [
    only(rule.actions, ({ action }) => action),
    only(rule.resources, ({ resource }) => resource),
    only(rule.tenants, ({ principal }) => principal.tenant),
    only(rule.subjects, ({ principal }) => principal.subject),
    only(rule.agents, ({ agentId }) => agentId),
    only(rule.scopes, ({ principal }) => principal.scopes),
    only(rule.roles, ({ roles }) => roles),
    only(rule.resourceTenants, ({ resourceTenant }) => resourceTenant),
    only(owners, ({ resourceSubjects }) => resourceSubjects),
  ].filter((test) => test !== undefined);
  return (request) => tests.every((test) => test(request));
}

function only(
  names: readonly string[] | undefined,
  of: (request: RequestFacts) => string | readonly string[] | undefined,
): ((request: RequestFacts) => boolean) | undefined {
  if (!names) return undefined;
  const matches = matcher(names);
  return (request) => {
    const found = of(request);
    return found !== undefined && (typeof found === 'string' ? matches(found) : found.some(matches));
  };
}

/** Returns the judge of the conditions on facts; `undefined` for a rule without any. */
function compileFacts(
  { acts, read, called, from, leaks }: Rule,
): ((input: unknown, facts: CallContextFacts) => Finding) | undefined {
  const tests: ((facts: CallContextFacts) => boolean)[] = [];
  if (acts !== undefined) tests.push((facts) => facts.acts === acts);
  if (leaks !== undefined) tests.push((facts) => facts.leaks === leaks);
  if (called) {
    const isCalled = matcher(called);
    tests.push(({ calls }) => Object.keys(calls).some(isCalled));
  }
  if (read) {
    const isRead = sourceMatcher(read.filter((name) => name !== 'private'));
    const isAny = read.includes('untrusted');
    const isPrivate = read.includes('private');
    tests.push(({ read: sources, readers }) =>
      (isAny && sources.length > 0) || isRead(sources) || (isPrivate && readers === 'principal')
    );
  }
  const pointers = (from ?? []).flatMap(({ at }) => at === '*' || at === 'destinations' ? [] : [at]);
  for (const { at, sources, narrow } of from ?? []) {
    const isFrom = sourceMatcher(sources);
    const holds = (label: ArgumentFacts): boolean => isFrom(label.from) && !(narrow && label.narrow === true);
    tests.push((facts) => {
      const within = Object.entries(facts.args).filter(([, label]) => holds(label));
      if (within.length === 0 || at === '*') return within.length > 0;
      const places = at === 'destinations' ? facts.destinations : [at];
      return within.some(([pointer]) => places.some((place) => overlaps(place, pointer)));
    });
  }
  if (tests.length === 0) return undefined;
  return (input, facts) => {
    if (pointers.some((at) => readPointer(input, at) === undefined)) return 'unfit';
    return foundIf(tests.every((test) => test(facts)));
  };
}

function foundIf(holds: boolean): Finding {
  return holds ? 'holds' : 'fails';
}

/** What anybody may have said, any of the sources may have said. */
function sourceMatcher(names: readonly string[]): (sources: readonly string[]) => boolean {
  const matches = matcher(names);
  return (sources) => sources.length > 0 && names.length > 0 && (sources.includes('*') || sources.some(matches));
}

function readRule(given: RuleInput, index: number): Rule {
  try {
    const rule = parse(Rule, given, { what: `rule ${index}` });
    const ofAsk = (['approvers', 'fourEyes', 'withinMs', 'edit'] as const).find((name) => rule[name] !== undefined);
    if (rule.effect !== 'ask' && ofAsk) {
      throw new PinnaceError('invalid_argument', `Cannot use rule ${index}: "${ofAsk}" is for the effect "ask"`);
    }
    // Otherwise what a stranger has said could turn a denial into a permission.
    if (rule.effect === 'allow' && (rule.read ?? rule.from)) {
      throw new PinnaceError(
        'invalid_argument',
        `Cannot use rule ${index}: "read" and "from" are for "ask" and "deny"`,
      );
    }
    if (rule.leaks === (rule.effect === 'allow')) {
      const wanted = rule.leaks ? '"leaks" must be false for "allow"' : '"leaks" must be true for "ask" and "deny"';
      throw new PinnaceError('invalid_argument', `Cannot use rule ${index}: ${wanted}`);
    }
    return rule;
  } catch (error) {
    const { code, message, details } = toPinnaceError(error);
    throw new PinnaceError(code, message, { details: { ...details, rule: index } });
  }
}

/** Whether one of the patterns matches a text. */
function matcher(names: readonly string[]): (text: string) => boolean {
  const whole = new Set(names.filter((name) => !name.endsWith('*')));
  const beginnings = names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  return (text) => whole.has(text) || beginnings.some((beginning) => text.startsWith(beginning));
}

function requireDistinct(rules: readonly CompiledRule[]): void {
  const names = new Set<string>();
  for (const [index, { name }] of rules.entries()) {
    if (names.has(name)) {
      throw new PinnaceError('invalid_argument', `Cannot use rule ${index}: another has the id "${name}"`, {
        details: { rule: index },
      });
    }
    names.add(name);
  }
}
