/** One call of a tree's tool, from its arguments to its answer. The order of the steps is part of the contract. */

import { isRecord } from '../../../base/is-record.ts';
import { PinnaceError } from '../../../base/errors.ts';
import { hidesCause } from '../../../events/report.ts';
import type { SpanContext } from '../../../events/span.ts';
import type { ToolSourceCall } from '../../../tools/implement.ts';
import { auditCall } from './call-audit.ts';
import type { Core } from '../../nodes/core.ts';
import { slotOf } from '../../nodes/structure.ts';
import { ledgerId } from './idempotency.ts';
import { startTransaction } from '../../nodes/mutate.ts';
import type { Attached, Mutation, TreeStore } from '../../nodes/mutation.ts';
import { none } from '../../nodes/node-store.ts';
import type { RateKind } from './rate-limit.ts';
import { sessionOf } from '../session.ts';
import { readArguments } from './read-arguments.ts';
import { type AnswerKey, replayOr, storedAnswer } from './replay.ts';
import { missing, toTreeError } from '../tool-error.ts';
import type { ToolSpec } from '../tool-spec.ts';
import type { CallContext, Caller } from '../caller.ts';
import type { Answer, Output, TreeOutcome } from '../output.ts';
import { conflict, versionOf } from '../../nodes/version.ts';
import { checkVersion } from './check-version.ts';

/** One call. */
export interface Call {
  readonly spec: ToolSpec | undefined;
  readonly name: string;
  readonly input: unknown;
  readonly signal: AbortSignal | undefined;
  /** The span of the call. */
  readonly span: SpanContext | undefined;
  /** Receives a cause that the outcome does not contain. */
  readonly report: ToolSourceCall['report'];
}

/** Calls the tool; never throws. */
export async function callTool(
  caller: Caller,
  { spec, name, input, signal, span, report }: Call,
): Promise<TreeOutcome> {
  if (!spec) return callUnknown(caller, name);
  const context: CallContext = { ...caller, session: sessionOf(caller.desk, caller.agentId) };
  const versionBefore = versionOf(context.core, context.session);
  const started = caller.now();
  let outcome: TreeOutcome;
  try {
    checkRate(caller, rateKindOf(caller, spec, input)); // before anything else, so that refused calls count as well
    if (signal?.aborted) throw new PinnaceError('cancelled', `Cannot call tool "${name}": the run has ended`);
    checkRole(caller, spec);
    const args = readArguments(context, spec, input);
    const output = spec.kind === 'tree' || spec.kind === 'view'
      ? await replayOr(context, { tool: spec.name, args }, (key) => apply(context, spec, args, key))
      : read(context, spec, args);
    outcome = { ok: true, output };
  } catch (error) {
    if (hidesCause(error)) report?.(error);
    outcome = { ok: false, error: toTreeError(error) };
  }
  if (spec.kind !== 'read') auditCall(context, { spec, input, outcome, versionBefore, started, span });
  return outcome;
}

function callUnknown(caller: Caller, name: unknown): TreeOutcome {
  try {
    checkRate(caller, 'reads');
    throw unknownTool(name);
  } catch (error) {
    return { ok: false, error: toTreeError(error) };
  }
}

/** A repeat of an answered write has a bucket of its own: a client whose writes are spent can still learn what became of one. */
function rateKindOf({ desk, agentId, now }: Caller, { kind, name }: ToolSpec, input: unknown): RateKind {
  if (kind === 'read' || kind === 'export') return 'reads';
  const key = isRecord(input) && Object.hasOwn(input, 'idempotencyKey') ? input.idempotencyKey : undefined;
  const isRepeat = typeof key === 'string' && desk.ledger.get(ledgerId(agentId, name, key), now()) !== undefined;
  return isRepeat ? 'replays' : 'writes';
}

function unknownTool(name: unknown): PinnaceError {
  return new PinnaceError('not_found', `Cannot call tool "${String(name).slice(0, 64)}": the tree has no such tool`, {
    details: { reason: 'unknown_tool' },
  });
}

function checkRole({ role, readOnly, exportRole }: Caller, { kind, name }: ToolSpec): void {
  if (kind === 'read' || (kind === 'export' && exportRole === 'reader')) return;
  if (readOnly) throw forbidden(name, 'the tree is read-only here', 'read_only');
  if (role === 'reader') throw forbidden(name, 'your role is "reader"; it takes an "editor"', 'role');
}

function forbidden(name: string, why: string, reason: string): PinnaceError {
  return new PinnaceError('forbidden', `Cannot call tool "${name}": ${why}`, { details: { reason } });
}

function read(context: CallContext, spec: ToolSpec, args: Output): Answer {
  const { core, session } = context;
  checkTargets(context, spec, args);
  if (spec.kind === 'export' && typeof args.versionToken === 'string') {
    checkVersion(core, session, { token: args.versionToken });
  }
  return { version: versionOf(core, session), ...spec.run(context, args, startTransaction(core)) };
}

/** A tree in storage is changed by one call at a time; another is changed before anything else can happen. */
async function apply(context: CallContext, spec: ToolSpec, args: Output, key: AnswerKey | undefined): Promise<Answer> {
  const { treeStore } = context.core;
  spec.prepare?.(context, args);
  if (!treeStore) return await applyNow(context, spec, args, key);
  return await treeStore.lock(() => applyAmongOthers(context, treeStore, { spec, args, key }));
}

/** How often a call is applied again, and from which attempt on other instances wait for it. */
const maxAttempts = 12;
const turnAttempt = 3;

/**
 * Applies a call where other instances write as well. One that another was faster than is applied again to the newer tree, as long as
 * nothing that it depends on has changed: then it is a conflict, as for a call that depends on the whole tree.
 */
async function applyAmongOthers(
  context: CallContext,
  treeStore: TreeStore,
  { spec, args, key }: { readonly spec: ToolSpec; readonly args: Output; readonly key: AnswerKey | undefined },
): Promise<Answer> {
  const attempts = isScoped(context.core, spec) && spec.dependsOn?.(args) ? maxAttempts : 1;
  try {
    for (let attempt = 1;; attempt++) {
      try {
        return await applyNow(context, spec, args, key);
      } catch (error) {
        if (attempt >= attempts || !isChangedElsewhere(error)) throw error;
      }
      const answered = key && await storedAnswer(treeStore, key); // the other instance may have had the same request
      if (answered) return answered;
      if (attempt + 1 >= turnAttempt) await treeStore.takeTurn();
    }
  } finally {
    await treeStore.releaseTurn().catch(() => {}); // others stop waiting for it after a while
  }
}

function isScoped({ conflictScope }: Core, { isLong }: ToolSpec): boolean {
  return isLong === true || conflictScope === 'node';
}

function isChangedElsewhere(error: unknown): boolean {
  return error instanceof PinnaceError && error.details?.['reason'] === 'changed_elsewhere';
}

async function applyNow(
  context: CallContext,
  spec: ToolSpec,
  args: Output,
  key: AnswerKey | undefined,
): Promise<Answer> {
  const { core, session, desk } = context;
  checkTargets(context, spec, args);
  const token = args.versionToken as string | undefined; // safe: the schema says so
  checkVersion(core, session, { token, dependencies: spec.dependsOn?.(args), isScoped: isScoped(core, spec) });
  const { output, mutation } = run(context, spec, args);
  const answer = key && { id: key.id, remembered: { digest: key.digest, output: structuredClone(output), at: key.at } };
  if (core.treeStore) {
    await store(context, core.treeStore, {
      mutation,
      answer,
      origin: { agentId: context.agentId, operation: spec.name },
    });
  }
  if (answer) desk.ledger.set(answer.id, answer.remembered);
  return output;
}

async function store(
  { core, session }: CallContext,
  treeStore: TreeStore,
  { mutation, ...attached }: Attached & { readonly mutation: Mutation },
): Promise<void> {
  try {
    await treeStore.store(mutation, attached);
  } catch (error) {
    const isConflict = error instanceof PinnaceError && error.code === 'conflict';
    throw isConflict ? conflict(error.message, { ...error.details, version: versionOf(core, session) }) : error;
  }
}

function run(context: CallContext, spec: ToolSpec, args: Output): { output: Answer; mutation: Mutation } {
  const { core, session, agentId } = context;
  const transaction = startTransaction(core);
  try {
    const output = spec.run(context, args, transaction);
    const mutation = transaction.end({ agentId, operation: spec.name }, session);
    const changed = mutation.changes.length > 0;
    return { output: { version: versionOf(core, session), changed, ...output }, mutation };
  } catch (error) {
    transaction.abort();
    throw error;
  }
}

function checkRate({ limits, desk, agentId, now }: Caller, kind: RateKind): void {
  const rate = kind === 'reads' ? limits.reads : limits.writes;
  const retryAfterMs = rate ? desk.rates.take({ agentId, kind, rate, now: now() }) : 0;
  if (retryAfterMs === 0) return;
  throw new PinnaceError('rate_limited', `Cannot call more tools now: too many ${kind}; wait ${retryAfterMs} ms`, {
    retryAfterMs,
    details: { reason: 'rate_limited', retryAfterMs },
  });
}

function checkTargets({ core, session }: CallContext, spec: ToolSpec, args: Output): void {
  for (const nodeId of spec.targets(args)) {
    if (slotOf(core, nodeId) !== none) continue;
    const rev = core.history.removedAt(core, nodeId);
    throw missing(nodeId, rev === undefined ? undefined : versionOf({ epoch: core.epoch, rev }, session));
  }
}
