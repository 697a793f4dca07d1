/** One call of a tree's tool, from its arguments to its answer. The order of the steps is part of the contract. */

import { PinnaceError } from '../errors.ts';
import { checkData } from '../json.ts';
import { parse } from '../parse.ts';
import type { Place } from '../span.ts';
import { isLargerThan } from './answer-size.ts';
import type { AuditSink } from './audit.ts';
import { auditCall } from './call-audit.ts';
import { type Core, slotOf } from './core.ts';
import { ledgerId } from './idempotency.ts';
import type { TreeLimits } from './limits.ts';
import type { Attached, Keeper } from './keeper.ts';
import { begin, type Mutation } from './mutate.ts';
import { none } from './node-store.ts';
import type { RateKind } from './rate-limit.ts';
import { type Desk, sessionOf } from './session.ts';
import type { Shape } from './shape.ts';
import { type AnswerKey, replayOr } from './replay.ts';
import { missing, toTreeError } from './tool-error.ts';
import type { Answer, CallContext, Output, ToolSpec } from './tool-spec.ts';
import type { TreeOutcome } from './tree-tools.ts';
import { checkVersion, conflict, versionAt, versionOf } from './version.ts';

/** Whose tools these are. */
export interface Caller {
  readonly core: Core;
  readonly desk: Desk;
  readonly agentId: string;
  readonly role: 'reader' | 'editor';
  readonly readOnly: boolean;
  readonly exportRole: 'reader' | 'editor';
  readonly undo: 'own' | 'any';
  readonly limits: TreeLimits;
  readonly shape: Shape;
  readonly audit: AuditSink | undefined;
  readonly now: () => number;
}

/** One call. */
export interface Call {
  readonly spec: ToolSpec | undefined;
  readonly name: string;
  readonly input: unknown;
  readonly signal: AbortSignal | undefined;
  /** The call as it is told of. */
  readonly span: Place | undefined;
}

/** Calls the tool; never throws. */
export async function callTool(caller: Caller, { spec, name, input, signal, span }: Call): Promise<TreeOutcome> {
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
    outcome = { ok: false, error: toTreeError(error) };
  }
  if (spec.kind !== 'read') auditCall(caller, context, { spec, input, outcome, versionBefore, started, span });
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

/** Lists that could be long, and which bound holds for each. */
const bounded = {
  includedProperties: 'maxPaths',
  excludedProperties: 'maxPaths',
  filters: 'maxPaths',
  payloadTypes: 'maxPaths',
  operations: 'maxBatch',
} as const;

function readArguments(context: CallContext, spec: ToolSpec, input: unknown): Output {
  const { viewJson: _, ...rest } = isRecord(input) ? input : {};
  const own = isRecord(input) ? rest : input; // a view may be larger and deeper; the import has limits of its own
  if (isLargerThan(own, context.limits.inputBytes)) throw tooLarge(spec.name, context.limits.inputBytes);
  for (const [name, bound] of Object.entries(bounded)) {
    const list = Object.hasOwn(rest, name) ? (rest as Output)[name] : undefined; // safe: read by an own key
    const most = context.limits[bound];
    if (Array.isArray(list) && list.length > most) throw tooMany(name, list.length, most);
    if (name.endsWith('Properties') && isLargerThan(list, context.limits.responseBytes / 4)) {
      throw tooLarge(spec.name, context.limits.responseBytes / 4); // answers repeat them
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
    {
      details: { reason: 'batch_too_large', limit: most },
    },
  );
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
  return { version: versionOf(core, session), ...spec.run(context, args, begin(core)) };
}

/** A tree in storage is changed by one call at a time; another is changed before anything else can happen. */
async function apply(context: CallContext, spec: ToolSpec, args: Output, key: AnswerKey | undefined): Promise<Answer> {
  const { keeper } = context.core;
  return await (keeper ? keeper.lock(() => applyNow(context, spec, args, key)) : applyNow(context, spec, args, key));
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
  checkVersion(core, session, { token, dependencies: spec.dependsOn?.(args) });
  const { output, mutation } = run(context, spec, args);
  const answer = key && { id: key.id, remembered: { digest: key.digest, output: structuredClone(output), at: key.at } };
  if (core.keeper) {
    await store(context, core.keeper, { mutation, answer, origin: { agentId: context.agentId, operation: spec.name } });
  }
  if (answer) desk.ledger.set(answer.id, answer.remembered);
  return output;
}

async function store(
  { core, session }: CallContext,
  keeper: Keeper,
  { mutation, ...attached }: Attached & { readonly mutation: Mutation },
): Promise<void> {
  try {
    await keeper.store(mutation, attached);
  } catch (error) {
    const isConflict = error instanceof PinnaceError && error.code === 'conflict';
    throw isConflict ? conflict(error.message, { ...error.details, version: versionOf(core, session) }) : error;
  }
}

function run(context: CallContext, spec: ToolSpec, args: Output): { output: Answer; mutation: Mutation } {
  const { core, session, agentId } = context;
  const transaction = begin(core);
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
    throw missing(nodeId, rev === undefined ? undefined : versionAt({ epoch: core.epoch, rev }, session));
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
