/** Permits for tool calls. The permission hook rules on a call once; its permit allows that very call, once. */

import { PinnaceError, toPinnaceError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Authorize, CallContextFacts } from '../contracts/authenticator.ts';
import { type ApprovalTerms, requestPermission, type Ruling, type Wish } from './authorize.ts';
import type { CallFacts } from './label.ts';
import { requireDecider } from './ownership.ts';

export type { ApprovalTerms };

/** What a permit is bound to. Tool, input and principal are compared by identity. */
export interface PermitFacts {
  readonly tool: { readonly definition: { readonly id: string } };
  /** The input as the caller gave it. */
  readonly input: unknown;
  readonly toolCallId: string;
  readonly agentId: string;
  readonly principal: Principal;
  /** Where its arguments are from, for the call of a program. Compared by identity. */
  readonly labels?: CallFacts | undefined;
}

/** What rules on a call besides the hook of the composition. */
export interface CallGuard {
  /** The hook of the agent's level; absent for an open one. */
  readonly hook: Authorize | undefined;
  /** Makes the facts of the call, when a hook reads them. */
  readonly facts: () => CallContextFacts;
}

declare const brand: unique symbol;

/** Allows one call. Made by `ruleOnCall` alone: no literal, spread or clone passes for one. */
export interface CallPermit {
  readonly [brand]: true;
}

/** The ruling on a call. */
export type CallRuling =
  | { readonly decision: 'allow'; readonly permit: CallPermit }
  | Exclude<Ruling, { readonly decision: 'allow' }>;

interface Permitted {
  readonly facts: PermitFacts;
  readonly checked: unknown;
}

const permits = new WeakMap<CallPermit, Permitted>();

/**
 * Calls the hook for a call, with its checked input. An approval of a person turns `ask` into `allow`, and never a
 * denial. The caller's own approval does so where no other person must decide. Never throws.
 */
export async function ruleOnCall(
  authorize: Authorize,
  facts: PermitFacts,
  { checked, approved, guard }: {
    readonly checked: unknown;
    readonly approved: boolean | 'by_caller';
    readonly guard?: CallGuard | undefined;
  },
): Promise<CallRuling> {
  const { tool, principal, agentId } = facts;
  const resource = { type: 'tool', id: tool.definition.id };
  const context = guard ? new CallContext(checked, agentId, guard.facts) : { input: checked, agentId };
  const wish = { action: 'tool.call', principal, resource, context };
  const ruling = await rulingOf(authorize, guard?.hook, wish);
  if (ruling.decision === 'deny' || (ruling.decision === 'ask' && !approved)) return ruling;
  const own = approved === 'by_caller' && ruling.decision === 'ask' ? whyNotOwn(facts, ruling) : undefined;
  if (own) return own;
  const permit = Object.freeze({}) as CallPermit; // the brand exists only as a type
  permits.set(permit, { facts, checked });
  return { decision: 'allow', permit };
}

/** The context of a call, with facts that are made when they are read: an own property, which copies have as well. */
class CallContext {
  declare readonly facts: CallContextFacts;
  readonly input: unknown;
  readonly agentId: string;
  readonly #make: CallGuard['facts'];
  #made: CallContextFacts | undefined;

  /** One getter for all contexts: V8 keeps what a getter of its own refers to until a full collection. */
  static readonly #facts = {
    enumerable: true,
    get(this: CallContext): CallContextFacts {
      return this.#made ??= this.#make();
    },
  };

  constructor(input: unknown, agentId: string, make: CallGuard['facts']) {
    this.input = input;
    this.agentId = agentId;
    this.#make = make;
    Object.defineProperty(this, 'facts', CallContext.#facts);
  }
}

/** The stricter answer of the composition's hook and that of the level. */
async function rulingOf(authorize: Authorize, level: Authorize | undefined, wish: Wish): Promise<Ruling> {
  const ruling = await requestPermission(authorize, wish);
  if (!level || ruling.decision === 'deny') return ruling;
  const ofLevel = await requestPermission(level, wish);
  return ruling.decision === 'ask' && ofLevel.decision !== 'deny' ? ruling : ofLevel;
}

/** A caller that decides on its own call is the one who has asked. */
function whyNotOwn(
  { principal, agentId }: PermitFacts,
  { approvers, fourEyes }: ApprovalTerms,
): Extract<CallRuling, { decision: 'deny' }> | undefined {
  const { tenant, subject, actor } = principal;
  try {
    requireDecider(principal, { tenant, subject, actor, agentId, approvers, fourEyes });
    return undefined;
  } catch (error) {
    const { message, details } = toPinnaceError(error);
    return {
      decision: 'deny',
      reason: message,
      code: details?.['reason'] === 'own_request' ? 'own_request' : 'not_an_approver',
    };
  }
}

/**
 * Uses a permit up and returns the checked input, which is all that the tool may get.
 *
 * @throws PinnaceError `forbidden`: `permit_missing` for no permit, a forged one and a used one, `permit_mismatch` for that of
 * another call.
 */
export function spendPermit(permit: CallPermit | undefined, facts: PermitFacts): unknown {
  const found = permit && permits.get(permit);
  if (!permit || !found) throw refused(facts, 'it has no permit, or a used one', 'permit_missing');
  if (!isSame(found.facts, facts)) throw refused(facts, 'its permit is for another call', 'permit_mismatch');
  permits.delete(permit);
  return found.checked;
}

function isSame(one: PermitFacts, other: PermitFacts): boolean {
  return one.tool === other.tool && Object.is(one.input, other.input) && one.toolCallId === other.toolCallId &&
    one.agentId === other.agentId && one.principal === other.principal && one.labels === other.labels;
}

function refused({ tool }: PermitFacts, why: string, reason: string): PinnaceError {
  const message = `Cannot call tool "${tool.definition.id}": ${why}; prepare each call with prepareCall`;
  return new PinnaceError('forbidden', message, { details: { reason } });
}
