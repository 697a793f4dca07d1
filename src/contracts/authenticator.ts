/** The port that verifies callers. */

import type { PinnaceError } from '../base/errors.ts';
import type { ArgumentFacts, Principal } from '../base/principal.ts';
import type { Change, Storage } from './storage.ts';

/** Gives the verified caller of an HTTP request, or rejects with a `PinnaceError` that carries status and code. */
export interface Authenticator {
  authenticate(request: Request): Promise<Principal>;
  /** Whether it reads cookies: pages of the endpoint's `origins` may then send them. It must refuse requests of other pages itself. */
  readonly usesCookies?: boolean;
}

/** A verified caller. Where the request has a nonce, it is not used up yet. */
interface VerifiedCaller {
  readonly principal: Principal;
  readonly nonce?: NonceUse;
}

/**
 * Verifies a request without a commit. The caller of `verify` uses up the nonce before the response: in the commit that starts the
 * run, or else with `commit`.
 */
export interface NonceVerifier {
  verify(request: Request): Promise<VerifiedCaller>;
}

/** The use of a request's nonce, of which only one commit succeeds. */
export interface NonceUse {
  /** Where used nonces are. A commit to the same storage may contain `change`. */
  readonly storage: Storage;
  /** Conflicts when the nonce was used. */
  readonly change: Change;
  /**
   * Commits the change alone. Does nothing when the nonce was used up by this request.
   *
   * @throws PinnaceError `signature_replayed` when another request has used it, `replay_store_full` or `overloaded` where the storage
   * fails.
   */
  commit(): Promise<void>;
  /** Says that another commit contained the change. */
  committed(): void;
  /** Returns the error for a commit that conflicted at the change's key. */
  replayed(): PinnaceError;
}

/** What `Authorize` answers. */
export type Authorization =
  | { readonly decision: 'allow'; readonly reason?: string }
  | { readonly decision: 'deny'; readonly reason: string }
  | {
    readonly decision: 'ask';
    readonly reason: string;
    /** Who decides in place of the owner: `subject:bo`, `role:finance`, `actor:bo`; at most 5. Administrators decide as well. */
    readonly approvers?: readonly string[];
    /** The person who has asked does not decide, also not as an administrator. */
    readonly fourEyes?: true;
    /** `false`: who decides cannot change the input. */
    readonly edit?: false;
    /** A shorter time to decide than `limits.approvalMs`. */
    readonly withinMs?: number;
  };

/** Where the values of a call are from, and where they go. Frozen. */
export interface CallContextFacts {
  /** What the run has read: the sources of others, such as `mcp:mail`; `*`: anybody. */
  readonly read: readonly string[];
  /** Who may read what the run has read. */
  readonly readers: ArgumentFacts['readers'];
  /** How often the run has called each tool before. */
  readonly calls: Readonly<Record<string, number>>;
  /** By JSON Pointers of the input, the values that the user or the operator has not written; `''`: all of them. */
  readonly args: Readonly<Record<string, ArgumentFacts>>;
  /** Whether the tool may act. */
  readonly acts: boolean;
  /** Whether the call shows a value to more people than may read it. */
  readonly leaks: boolean;
  /** The JSON Pointers of the arguments that say where or to whom. */
  readonly destinations: readonly string[];
  /** Whether a program has stated the call before it has read anything. */
  readonly planned: boolean;
}

/**
 * Decides on one action (`tool.call`), called before it. An error in it denies. `resource.tenant` is the tenant whose record is
 * changed; absent, the record is shared or the resource is no record. `resource.subject` is the person or the group that owns the
 * record: a run, a chat, a plan, a file, an approval. What a tenant or a person may not do across its boundary is refused whatever
 * the hook answers; an administrator who reads another's record is asked for as `run.read`, `chat.read`, `plan.read` and `blob.read`.
 */
export type Authorize = (
  action: string,
  principal: Principal,
  resource: { readonly type: string; readonly id: string; readonly tenant?: string; readonly subject?: string },
  context: {
    readonly input?: unknown;
    readonly agentId?: string;
    /** Of a tool call. Made when it is read. */
    readonly facts?: CallContextFacts | undefined;
  },
) => Authorization | Promise<Authorization>;
