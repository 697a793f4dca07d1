/**
 * One call of a tree's tool, from its arguments to its answer. The order of the checks is part of the contract, and the first that fails
 * is the answer:
 *
 * 1. The rate: every call counts, also one that is refused for what follows.
 * 2. Role and read-only mode, before anything looks into the arguments.
 * 3. The arguments: their bytes and lists are bounded before they are parsed.
 * 4. A repeat by its idempotency key returns the stored result, and one that arrives during the first call waits for it.
 * 5. The nodes that must exist, then the version that the caller has read, then what the call means.
 *
 * A mutation, its log entry and its answer are stored together. Every changing call has an audit entry, whatever its outcome. A call
 * never throws.
 */

import { PinnaceError } from '../base/errors.ts';
import { isRecord } from '../base/is-record.ts';
import { checkData } from '../base/json.ts';
import { parse } from '../base/parse.ts';
import { sha256Sync } from '../base/hash.ts';
import { hidesCause } from '../events/report.ts';
import { statusOfError } from '../events/span.ts';
import type { ToolSourceCall } from '../tools/implement.ts';
import { isLargerThan } from './answer-pages.ts';
import { checkVersion } from './check-version.ts';
import { ledgerId, type UnnumberedEntry } from './desk.ts';
import { none } from './node-store.ts';
import { maxIdLength } from './payload-types.ts';
import { canonicalJson } from './properties.ts';
import { conflict, slotOf, versionOf } from './structure.ts';
import {
  type Answer,
  type CallContext,
  type Caller,
  missing,
  type Output,
  sessionOf,
  type ToolSpec,
  toTreeError,
  type TreeOutcome,
} from './tool-spec.ts';
import { type Mutation, type Remembered, startTransaction, type TreeStore } from './tree-core.ts';

/** Under what an answer is remembered, and for which request. */
interface AnswerKey {
  readonly id: string;
  readonly name: string;
  readonly digest: string;
  readonly at: number;
}

/** How often a call is applied again, and from which attempt on other instances wait for it. */
const maxAttempts = 12;
const turnAttempt = 3;

export class TreeCall {
  readonly #spec: ToolSpec;
  readonly #input: unknown;
  readonly #circumstances: ToolSourceCall;
  readonly #context: CallContext;
  readonly #started: number;
  readonly #versionBefore: string;

  constructor(
    caller: Caller,
    spec: ToolSpec,
    { input, ...circumstances }: ToolSourceCall & { readonly input: unknown },
  ) {
    this.#spec = spec;
    this.#input = input;
    this.#circumstances = circumstances;
    this.#context = { ...caller, session: sessionOf(caller.desk, caller.agentId) };
    this.#started = caller.now();
    this.#versionBefore = this.#version();
  }

  async outcome(): Promise<TreeOutcome> {
    const { kind, name } = this.#spec;
    const { signal, report } = this.#circumstances;
    let outcome: TreeOutcome;
    try {
      this.#checkRate();
      if (signal?.aborted) throw new PinnaceError('cancelled', `Cannot call tool "${name}": the run has ended`);
      checkRole(this.#context, this.#spec);
      const args = readArguments(this.#context, this.#spec, this.#input);
      const output = kind === 'tree' || kind === 'view' ? await this.#replayOr(args) : this.#read(args);
      outcome = { ok: true, output };
    } catch (error) {
      if (hidesCause(error)) report?.(error);
      outcome = { ok: false, error: toTreeError(error) };
    }
    if (kind !== 'read') this.#audit(outcome);
    return outcome;
  }

  #version(): string {
    return versionOf(this.#context.core, this.#context.session);
  }

  /** A repeat of an answered write has a bucket of its own: a client whose writes are spent can still learn what became of one. */
  #checkRate(): void {
    const { desk, agentId, now } = this.#context;
    const { kind, name } = this.#spec;
    if (kind === 'read' || kind === 'export') return takeRate(this.#context, 'reads');
    const key = isRecord(this.#input) && Object.hasOwn(this.#input, 'idempotencyKey')
      ? this.#input.idempotencyKey
      : undefined;
    const isRepeat = typeof key === 'string' && desk.ledger.get(ledgerId(agentId, name, key), now()) !== undefined;
    takeRate(this.#context, isRepeat ? 'replays' : 'writes');
  }

  #read(args: Output): Answer {
    const { core, session } = this.#context;
    this.#checkTargets(args);
    if (this.#spec.kind === 'export' && typeof args.versionToken === 'string') {
      checkVersion(core, session, { token: args.versionToken });
    }
    return { version: this.#version(), ...this.#spec.run(this.#context, args, startTransaction(core)) };
  }

  /** A repeat returns the original result; one that arrives during the first call waits for it. */
  async #replayOr(args: Output): Promise<Answer> {
    const { versionToken: _, idempotencyKey: name, ...content } = args;
    if (typeof name !== 'string') return await this.#apply(args, undefined);
    const { desk: { ledger }, core, agentId, now } = this.#context;
    const id = ledgerId(agentId, this.#spec.name, name);
    while (ledger.pending.has(id)) await ledger.pending.get(id)?.catch(() => {}); // the first caller receives its failure
    const key = { id, name, digest: sha256Sync(canonicalJson(content)), at: now() };
    const answered = async (): Promise<Answer> => {
      const known = ledger.get(id, key.at) ?? await core.treeStore?.answer(id);
      return known ? replayed(known, key) : await this.#apply(args, key);
    };
    const running = answered();
    ledger.pending.set(id, running);
    try {
      return await running;
    } finally {
      ledger.pending.delete(id);
    }
  }

  /** A tree in storage is changed by one call at a time; another is changed before anything else can happen. */
  async #apply(args: Output, key: AnswerKey | undefined): Promise<Answer> {
    const { treeStore } = this.#context.core;
    this.#spec.prepare?.(this.#context, args);
    if (!treeStore) return await this.#applyNow(args, key);
    return await treeStore.lock(() => this.#applyAmongOthers(treeStore, args, key));
  }

  /**
   * Applies the call where other instances write as well. One that another was faster than is applied again to the newer tree, as long as
   * nothing that it depends on has changed: then it is a conflict, as for a call that depends on the whole tree.
   */
  async #applyAmongOthers(treeStore: TreeStore, args: Output, key: AnswerKey | undefined): Promise<Answer> {
    const attempts = this.#isScoped() && this.#spec.dependsOn?.(args) ? maxAttempts : 1;
    try {
      for (let attempt = 1;; attempt++) {
        try {
          return await this.#applyNow(args, key);
        } catch (error) {
          if (attempt >= attempts || !isChangedElsewhere(error)) throw error;
        }
        const answered = key && await treeStore.answer(key.id); // the other instance may have had the same request
        if (answered) return replayed(answered, key);
        if (attempt + 1 >= turnAttempt) await treeStore.takeTurn();
      }
    } finally {
      await treeStore.releaseTurn().catch(() => {}); // others stop waiting for it after a while
    }
  }

  #isScoped(): boolean {
    return this.#spec.isLong === true || this.#context.core.conflictScope === 'node';
  }

  async #applyNow(args: Output, key: AnswerKey | undefined): Promise<Answer> {
    const { core, session, desk } = this.#context;
    this.#checkTargets(args);
    const token = args.versionToken as string | undefined; // safe: the schema says so
    checkVersion(core, session, { token, dependencies: this.#spec.dependsOn?.(args), isScoped: this.#isScoped() });
    const { output, mutation } = this.#change(args);
    const remembered = key && { digest: key.digest, output: structuredClone(output), at: key.at };
    const answer = key && remembered && { id: key.id, remembered };
    if (core.treeStore) await this.#store(core.treeStore, mutation, answer);
    if (answer) desk.ledger.set(answer.id, answer.remembered);
    return output;
  }

  #change(args: Output): { readonly output: Answer; readonly mutation: Mutation } {
    const { core, session, agentId } = this.#context;
    const transaction = startTransaction(core);
    try {
      const output = this.#spec.run(this.#context, args, transaction);
      const mutation = transaction.end({ agentId, operation: this.#spec.name }, session);
      return { output: { version: this.#version(), changed: mutation.changes.length > 0, ...output }, mutation };
    } catch (error) {
      transaction.abort();
      throw error;
    }
  }

  async #store(
    treeStore: TreeStore,
    mutation: Mutation,
    answer: { readonly id: string; readonly remembered: Remembered } | undefined,
  ): Promise<void> {
    try {
      const origin = { agentId: this.#context.agentId, operation: this.#spec.name };
      await treeStore.store(mutation, { answer, origin });
    } catch (error) {
      const isConflict = error instanceof PinnaceError && error.code === 'conflict';
      throw isConflict ? conflict(error.message, { ...error.details, version: this.#version() }) : error;
    }
  }

  #checkTargets(args: Output): void {
    const { core, session } = this.#context;
    for (const nodeId of this.#spec.targets(args)) {
      if (slotOf(core, nodeId) !== none) continue;
      const rev = core.history.removedAt(core, nodeId);
      throw missing(nodeId, rev === undefined ? undefined : versionOf({ epoch: core.epoch, rev }, session));
    }
  }

  /** Writes the entry of a changing call; never throws, whatever the input is made of. */
  #audit(outcome: TreeOutcome): void {
    const { agentId, role, audit, desk, limits, now } = this.#context;
    const { targets, key, content } = describe(this.#input, outcome, limits.inputBytes);
    let digest = content.length > longestUnhashed ? sha256Sync(content) : undefined;
    const entry: UnnumberedEntry = {
      seq: 0,
      at: this.#started,
      agentId,
      role,
      op: this.#spec.name,
      targets,
      get argsDigest() {
        return digest ??= content === '' ? '' : sha256Sync(content);
      },
      ...(key !== undefined && { idempotencyKey: key }),
      outcome: outcome.ok ? (outcome.output.replayed === true ? 'replayed' : 'ok') : outcome.error.code,
      versionBefore: this.#versionBefore,
      versionAfter: this.#version(),
      ms: now() - this.#started,
    };
    desk.audit.add(entry, audit);
    const error = outcome.ok ? null : outcome.error;
    const { versionBefore, versionAfter, ms: latency } = entry;
    this.#circumstances.span?.emit({
      action: `tree.${entry.op}`,
      target: { type: 'tree-node', id: targets[0] ?? '' }, // ids are of the tree's own making
      status: error ? statusOfError(error) : 'ok',
      latency,
      error,
      payload: { nodes: targets.length, versionBefore, versionAfter },
    });
  }
}

/** Takes one call from the agent's bucket. @throws PinnaceError `rate_limited` */
export function takeRate({ limits, desk, agentId, now }: Caller, kind: 'reads' | 'writes' | 'replays'): void {
  const rate = kind === 'reads' ? limits.reads : limits.writes;
  const retryAfterMs = rate ? desk.rates.take({ agentId, kind, rate, now: now() }) : 0;
  if (retryAfterMs === 0) return;
  throw new PinnaceError('rate_limited', `Cannot call more tools now: too many ${kind}; wait ${retryAfterMs} ms`, {
    retryAfterMs,
    details: { reason: 'rate_limited', retryAfterMs },
  });
}

function checkRole({ role, readOnly, exportRole }: Caller, { kind, name }: ToolSpec): void {
  if (kind === 'read' || (kind === 'export' && exportRole === 'reader')) return;
  const [why, reason] = readOnly
    ? ['the tree is read-only here', 'read_only']
    : role === 'reader'
    ? ['your role is "reader"; it takes an "editor"', 'role']
    : [];
  if (why) throw new PinnaceError('forbidden', `Cannot call tool "${name}": ${why}`, { details: { reason } });
}

/** Lists that could be long, and which bound holds for each. */
const bounded = Object.entries(
  {
    includedProperties: 'maxPaths',
    excludedProperties: 'maxPaths',
    filters: 'maxPaths',
    payloadTypes: 'maxPaths',
    operations: 'maxBatch',
  } as const,
);

/** Returns the arguments as the tool's schema makes them. @throws PinnaceError `invalid_argument` */
function readArguments(context: CallContext, spec: ToolSpec, input: unknown): Output {
  const { viewJson: _, ...rest } = isRecord(input) ? input : {};
  const own = isRecord(input) ? rest : input; // a view may be larger and deeper; the import has limits of its own
  const { limits } = context;
  if (isLargerThan(own, limits.inputBytes)) throw tooLarge(spec.name, limits.inputBytes);
  for (const [name, bound] of bounded) {
    const list = Object.hasOwn(rest, name) ? (rest as Output)[name] : undefined; // safe: read by an own key
    if (Array.isArray(list) && list.length > limits[bound]) throw tooMany(name, list.length, limits[bound]);
    if (name.endsWith('Properties') && isLargerThan(list, limits.responseBytes / 4)) {
      throw tooLarge(spec.name, limits.responseBytes / 4); // answers repeat them
    }
  }
  checkData(own);
  const args = parse(spec.input, input, { what: `the input of tool "${spec.name}"` });
  spec.guard?.(context, args);
  return args;
}

function tooLarge(tool: string, most: number): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    `Cannot read the input of tool "${tool}": it takes more than ${most} bytes; send less at once`,
    { details: { reason: 'too_large', limit: most } },
  );
}

function tooMany(name: string, length: number, most: number): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    `Cannot take ${length} "${name}": at most ${most} are allowed in one call`,
    { details: { reason: 'batch_too_large', limit: most } },
  );
}

function replayed({ digest, output }: Remembered, key: AnswerKey): Answer {
  if (digest === key.digest) return { ...(structuredClone(output) as Answer), replayed: true }; // safe: an answer was stored
  throw new PinnaceError(
    'invalid_argument',
    `Cannot use idempotency key "${
      key.name.slice(0, 64)
    }" again: it belongs to a request with other arguments; take a new one`,
    { details: { reason: 'idempotency_key_reused' } },
  );
}

function isChangedElsewhere(error: unknown): boolean {
  return error instanceof PinnaceError && error.details?.['reason'] === 'changed_elsewhere';
}

/** Shorter arguments are hashed when the digest is read first: hashing takes longer than most calls. */
const longestUnhashed = 512;
const targetNames = ['nodeId', 'parentNodeId', 'newParentId', 'rootNodeId', 'before', 'after'] as const;
const maxTargets = 100;

/**
 * What the audit says of an input, also of one that was refused: the ids that it names, its idempotency key, and its canonical JSON; empty
 * where it is too large or too frequent to be worth the time.
 */
function describe(input: unknown, outcome: TreeOutcome, inputBytes: number): {
  readonly targets: readonly string[];
  readonly key?: string;
  readonly content: string;
} {
  try {
    const targets = targetsOf(input, outcome);
    const isCheap = outcome.ok || (outcome.error.code !== 'rate_limited' && !isLargerThan(input, inputBytes));
    if (!isCheap) return { targets, content: '' };
    const { versionToken: _, idempotencyKey, ...content } = isRecord(input) ? input : { input };
    const key = typeof idempotencyKey === 'string' ? { key: idempotencyKey.slice(0, 200) } : {};
    return { targets, content: canonicalJson(content), ...key };
  } catch {
    return { targets: [], content: '' };
  }
}

/** The ids in the arguments and their operations, and the new node's id in the answer. */
function targetsOf(input: unknown, outcome: { readonly ok: boolean; readonly output?: unknown }): readonly string[] {
  const operations = isRecord(input) && Array.isArray(input.operations) ? input.operations.slice(0, maxTargets) : [];
  const targets = new Set<string>();
  for (const value of [input, ...operations, outcome.output]) {
    for (const name of targetNames) {
      const target = isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
      if (typeof target === 'string') targets.add(target.slice(0, maxIdLength));
    }
  }
  return [...targets].slice(0, maxTargets);
}
