/** Carries out what a step of an agent wants done. */

import type { ErrorData } from '../base/errors.ts';
import type { CallQuestion } from '../contracts/steps.ts';
import { isUsedUp, lacks } from './account.ts';
import { nextAddress } from './agent-changes.ts';
import type { Action, AskAction, CallAction, CreateAction, ReviseAction, SendAction, Task } from './action.ts';
import { cancel, type Draft, dropped, nextAskId } from './draft.ts';
import { visibleLines } from '../base/text.ts';
import { failure } from './failure.ts';
import type { ActionOutcome, CallSpec, EventOf } from './plan-event.ts';
import { type AgentState, childOf, hasEnded, type PlanState, stepId } from './plan-state.ts';

/** What an action came to: an output at once, an error at once, a call to make, or something to come. */
export type Done =
  | { readonly output: unknown }
  | { readonly error: ErrorData }
  | { readonly call: CallSpec }
  | undefined;

/** Carries out one action; `index` is its place in the step, `calls` the number of earlier calls of the step. */
export function carryOut(
  draft: Draft,
  agent: AgentState,
  { action, index, calls }: { readonly action: Action; readonly index: number; readonly calls: number },
): Done {
  switch (action.type) {
    case 'create':
      return create(draft, agent, action);
    case 'send':
      return send(draft, agent, { action, index });
    case 'ask_human':
      return ask(draft, agent, action);
    case 'plan_revise':
      return revise(draft, agent, action);
    case 'call':
      return call(draft, agent, { action, step: `${stepId(agent)}.${calls + 1}` });
    default:
      return unknownAction(action);
  }
}

/** The outcome of an action as the agent receives it. */
export function outcomeOf({ callId }: { readonly callId?: string | undefined }, done: Done): ActionOutcome | undefined {
  if (done === undefined || 'call' in done) return undefined;
  const facts = callId === undefined ? {} : { callId };
  return 'error' in done ? { ...facts, ok: false, error: done.error } : { ...facts, ok: true, output: done.output };
}

function unknownAction(_action: never): Done {
  return { error: failure('invalid_argument', 'Cannot carry out the action: its type is not known') };
}

/** Creates a child of an agent. A key that was used before for the same goal returns that child. */
export function create(draft: Draft, parent: AgentState, action: CreateAction | Task): Done {
  const known = action.key === undefined ? undefined : parent.keys?.get(action.key);
  if (known && known.spec.goal !== action.goal) return { error: reusedKey(known.id) };
  if (known) return { output: { address: known.id, existed: true } };
  if (parent.depth + 1 > draft.settings.maxDepth) {
    return { error: refuse('depth_limit', 'this is as deep as agents may be nested; do it yourself') };
  }
  const lacking = isUsedUp(parent.account, 'agents') ? 'agents' : action.budget && lacks(parent.account, action.budget);
  if (lacking) return { error: refuse(`${lacking}_limit`, `there is not enough left of the budget of ${lacking}`) };
  const after: string[] = [];
  for (const name of action.after) {
    const sibling = childOf(draft.state, parent, name);
    if (!sibling) {
      return { error: failure('not_found', `Cannot create a sub-agent after "${name}": there is no such sibling`) };
    }
    after.push(sibling.id);
  }
  const id = nextAddress(parent);
  const refusal = draft.add(creationOf(id, action, { after, at: draft.at }));
  return refusal === undefined
    ? { output: { address: id } }
    : { error: failure('conflict', `Cannot create a sub-agent: ${refusal}`) };
}

function reusedKey(address: string): ErrorData {
  const message =
    `Cannot create a sub-agent: its key belongs to sub-agent ${address}, which has another goal; use a new key`;
  return failure('conflict', message, { reason: 'idempotency_key_reused' });
}

type Creation = EventOf<'agent.created'>;

/** Has only fields with a value: a plan may have ten thousand of these. */
function creationOf(
  id: string,
  action: CreateAction | Task,
  { after, at }: { readonly after: readonly string[]; readonly at: number },
): Creation {
  const { goal, key } = action;
  const spec: { -readonly [K in keyof Creation]: Creation[K] } = key === undefined
    ? { type: 'agent.created', at, id, goal }
    : { type: 'agent.created', at, id, goal, key }; // all at once: a field that is added later takes more memory
  if (action.agentId !== undefined) spec.agentId = action.agentId;
  if (action.role !== undefined) spec.role = action.role;
  if (action.context !== undefined) spec.context = action.context;
  if (action.constraints !== undefined) spec.constraints = action.constraints;
  if (action.tools !== undefined) spec.tools = action.tools;
  if (action.effect !== 'pure') spec.effect = action.effect;
  if (action.provider !== undefined) spec.provider = action.provider;
  if (after.length > 0) spec.after = after;
  if (action.onFailure !== undefined) spec.onFailure = action.onFailure;
  if (action.retry !== undefined) spec.retry = action.retry;
  if (action.budget !== undefined) spec.budget = action.budget;
  if (action.timeoutMs !== undefined) spec.deadlineAt = at + action.timeoutMs;
  return spec;
}

function send(draft: Draft, from: AgentState, { action, index }: { action: SendAction; index: number }): Done {
  const to = receiver(draft.state, from, action.to);
  if (!to || hasEnded(to) || (!to.parent && draft.state.created?.terms.given === true)) {
    const why = to ? 'it takes no messages any more' : 'only its parent, siblings and children can be reached';
    return { error: failure('not_found', `Cannot send to "${action.to}": ${why}`, { reason: 'no_receiver' }) };
  }
  const id = `${stepId(from)}.m${index + 1}`;
  const untilMs = action.expectReply ? action.timeoutMs ?? draft.settings.askMs : undefined;
  draft.add({
    type: 'msg.sent',
    id,
    from: from.id,
    to: to.id,
    body: action.body ?? null,
    ...(action.replyTo !== undefined && { replyTo: action.replyTo }),
    ...(untilMs !== undefined && { until: draft.at + untilMs }),
  });
  return { output: { messageId: id } };
}

function receiver(state: PlanState, agent: AgentState, to: string): AgentState | undefined {
  const { parent } = agent;
  if (to === 'parent') return parent;
  const below = childOf(state, agent, to);
  if (below || !parent) return below;
  return childOf(state, parent, to) ?? (parent.id === to ? parent : undefined);
}

function ask(draft: Draft, agent: AgentState, action: AskAction): Done {
  if (!draft.settings.allowHuman) return { error: humanRequired('ask a person') };
  if (draft.state.asks.size >= maxOpenQuestions) return { error: tooManyQuestions('ask a person') };
  const { type: _type, timeoutMs = draft.settings.askMs, callId, schema, options, question, ...facts } = action;
  draft.add({
    type: 'ask.opened',
    ask: nextAskId(draft.state),
    agent: agent.id,
    kind: 'question',
    ...facts,
    question: visibleLines(question), // the words of a model
    ...(callId !== undefined && { callId }),
    ...(schema !== undefined && { schema }),
    ...(options !== undefined && { options }),
    expiresAt: draft.at + timeoutMs,
  });
  return undefined;
}

function call(draft: Draft, agent: AgentState, { action, step }: { action: CallAction; step: string }): Done {
  const { type: _type, approval, about, approvers, fourEyes, edit, callId, provider, retry, ...facts } = action;
  const question = { approval, about, approvers, fourEyes, edit };
  const asked = approval === undefined
    ? undefined
    : askAbout(draft, agent, { tool: action.tool, step, callId, question });
  if (asked && 'error' in asked) return asked;
  return {
    call: {
      ...facts,
      ...(callId !== undefined && { callId }),
      ...(provider !== undefined && { provider }),
      ...(retry !== undefined && { retry }),
      ...asked,
    },
  };
}

/** Asks a person to approve a call. */
export function askAbout(
  draft: Draft,
  agent: AgentState,
  { tool, step, callId, question: { approval = '', about, approvers, fourEyes, edit } }: {
    readonly tool: string;
    readonly step: string;
    readonly callId: string | undefined;
    readonly question: { readonly [Field in keyof CallQuestion]: CallQuestion[Field] | undefined };
  },
): { readonly ask: string } | { readonly error: ErrorData } {
  if (!draft.settings.allowHuman) return { error: humanRequired(`call tool "${tool}"`) };
  if (draft.state.asks.size >= maxOpenQuestions) return { error: tooManyQuestions(`call tool "${tool}"`) };
  const id = nextAskId(draft.state);
  draft.add({
    type: 'ask.opened',
    ask: id,
    agent: agent.id,
    kind: 'approval',
    step,
    question: approval,
    ...(about && { about }),
    ...(approvers && { approvers }),
    ...(fourEyes && { fourEyes }),
    ...(edit && { edit }),
    ...(callId !== undefined && { callId }),
    expiresAt: draft.at + draft.settings.askMs,
    onTimeout: 'fail',
  });
  return { ask: id };
}

function revise(draft: Draft, agent: AgentState, { outline, facts, drop }: ReviseAction): Done {
  const unknown = drop.filter((name) => !childOf(draft.state, agent, name));
  if (unknown.length > 0) {
    return { error: failure('not_found', `Cannot drop "${unknown[0]}": there is no such child`) };
  }
  const rev = agent.revision + 1;
  draft.add({ type: 'plan.revised', agent: agent.id, rev, outline, facts, drop });
  for (const name of drop) {
    const child = childOf(draft.state, agent, name);
    if (child && !hasEnded(child)) cancel(draft, child, dropped);
  }
  return { output: { rev } };
}

function refuse(reason: string, why: string): ErrorData {
  return failure('budget_exceeded', `Cannot create a sub-agent: ${why}`, { reason });
}

/** The most open questions of a plan: one commit must close them all. */
const maxOpenQuestions = 30;

function tooManyQuestions(what: string): ErrorData {
  return failure('budget_exceeded', `Cannot ${what}: ${maxOpenQuestions} questions of the plan are open`, {
    reason: 'ask_limit',
  });
}

/** The error of decisions that need a person, in plans without questions. */
export function humanRequired(what: string): ErrorData {
  return failure('approval_required', `Cannot ${what}: the plan must do without people`, { reason: 'human_required' });
}
