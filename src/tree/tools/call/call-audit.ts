/** Creates the audit entry of a call. */

import { isRecord } from '../../../base/is-record.ts';
import { type SpanContext, statusOfError } from '../../../events/span.ts';
import { isLargerThan } from '../pages/answer-size.ts';
import type { AuditEntry, UnnumberedEntry } from './audit.ts';
import { canonicalJson } from '../../nodes/canonical.ts';
import { sha256Sync } from '../../../base/sha256-sync.ts';
import type { ToolSpec } from '../tool-spec.ts';
import type { CallContext } from '../caller.ts';
import { targetsOf } from './tool-targets.ts';
import type { TreeOutcome } from '../output.ts';
import { versionOf } from '../../nodes/version.ts';

/** One call and its outcome. */
export interface Audited {
  readonly spec: ToolSpec;
  readonly input: unknown;
  readonly outcome: TreeOutcome;
  readonly versionBefore: string;
  readonly started: number;
  /** Where events are emitted. */
  readonly span: SpanContext | undefined;
}

/** Writes the entry; never throws, whatever the input is made of. */
export function auditCall(context: CallContext, call: Audited): void {
  const { core, session } = context;
  const { spec, outcome, versionBefore, started } = call;
  const { targets, key, content } = describe(call, context.limits.inputBytes);
  let digest = content.length > longestUnhashed ? sha256Sync(content) : undefined;
  const entry: UnnumberedEntry = {
    seq: 0,
    at: started,
    agentId: context.agentId,
    role: context.role,
    op: spec.name,
    targets,
    get argsDigest() {
      return digest ??= content === '' ? '' : sha256Sync(content);
    },
    ...(key !== undefined && { idempotencyKey: key }),
    outcome: outcome.ok ? (outcome.output.replayed === true ? 'replayed' : 'ok') : outcome.error.code,
    versionBefore,
    versionAfter: versionOf(core, session),
    ms: context.now() - started,
  };
  context.desk.audit.add(entry, context.audit);
  emitAudit(entry, call);
}

/** Shorter arguments are hashed when the digest is read first: hashing takes longer than most calls. */
const longestUnhashed = 512;

/** The nodes are ids of the tree's own making; the first of them names the target. */
function emitAudit(
  { op, targets, ms, versionBefore, versionAfter }: Omit<AuditEntry, 'seq'>,
  { span, outcome }: Audited,
): void {
  const error = outcome.ok ? null : outcome.error;
  span?.emit({
    action: `tree.${op}`,
    target: { type: 'tree-node', id: targets[0] ?? '' },
    status: error ? statusOfError(error) : 'ok',
    latency: ms,
    error,
    payload: { nodes: targets.length, versionBefore, versionAfter },
  });
}

interface Described {
  readonly targets: readonly string[];
  readonly key?: string;
  /** The arguments as canonical JSON; empty where there is no digest. */
  readonly content: string;
}

/** What the input says; no digest of one that was refused and is too large or too frequent to be worth the time. */
function describe({ input, outcome }: Audited, inputBytes: number): Described {
  try {
    if (!outcome.ok && (outcome.error.code === 'rate_limited' || isLargerThan(input, inputBytes))) {
      return { targets: targetsOf(input, outcome), content: '' };
    }
    const { versionToken: _, idempotencyKey, ...content } = isRecord(input) ? input : { input };
    const key = typeof idempotencyKey === 'string' ? { key: idempotencyKey.slice(0, 200) } : {};
    return { targets: targetsOf(input, outcome), content: canonicalJson(content), ...key };
  } catch {
    return { targets: [], content: '' };
  }
}
