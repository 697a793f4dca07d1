/** Who may use a source: what the host's hooks say, and nothing when they fail. */

import { PinnaceError } from '../base/errors.ts';
import { egressDenied, isWithinEgress } from '../base/origins.ts';
import { reportedHook } from '../events/report.ts';
import type { Filter, GroundingSource } from '../contracts/grounding-source.ts';
import { requireScope } from '../base/principal.ts';
import { refusal, requestPermission } from '../permission/authorize.ts';
import type { Authorize } from '../contracts/authenticator.ts';
import type { SpanContext } from '../events/span.ts';
import type { ToolContext } from '../tools/tool.ts';

type Principal = ToolContext['principal'];

/** The host's hooks. */
export interface AccessHooks {
  /** Called before every access (`grounding.retrieve`, `grounding.remember`, `grounding.forget`); an error in it denies. */
  readonly authorize?: Authorize;
  /** Access rights as filters, added to every question, whatever it says; an error in it denies. */
  readonly access?: (
    principal: Principal | undefined,
    dataSourceId: string,
  ) => readonly Filter[] | Promise<readonly Filter[]>;
  /** Knows which sources are out of service, as a registry does; one that it does not know is in service. */
  readonly records?: {
    /** With a tenant, the tenant's own record before the shared one. */
    dataSource(
      dataSourceId: string,
      signal?: AbortSignal,
      tenant?: string,
    ): Promise<{ readonly state: 'active' | 'disabled' } | undefined>;
  };
}

/** The caller's identity. Without a principal, the tenant is `local`. */
export interface GroundingCallOptions {
  /** Who queries. */
  readonly principal?: Principal | undefined;
  /** Aborts the query. */
  readonly signal?: AbortSignal | undefined;
  /** Another subject of the tenant, for sources per subject; needs the scope `admin`. */
  readonly subject?: string | undefined;
  /**
   * Of a shared source: whether `remember` and `forget` are about the items of all tenants. Absent, they are for the deployment: code
   * without a principal, or a principal of `deployment`. Another is refused `true`.
   */
  readonly shared?: boolean | undefined;
  /** The only origins that sources may send a question to; absent: all. */
  readonly origins?: ToolContext['origins'];
  /** The calling agent, for the hooks. */
  readonly agentId?: string | undefined;
  /** Called in addition to the host's own hook. */
  readonly authorize?: Authorize | undefined;
  /** Pays for bytes before they are written, where written bytes are limited. A rejection refuses the write. */
  readonly pay?: Pay | undefined;
  /** Where events are emitted. */
  readonly span?: SpanContext | undefined;
  /** Receives what a source throws: an answer has a code and a fixed text of it. */
  readonly report?: ToolContext['report'];
}

/** Pays for bytes that a caller writes. Rejects with `budget_exceeded` (`period_bytes`) where too few are left. */
export type Pay = (principal: Principal | undefined, bytes: number) => Promise<void>;

export interface Wanted {
  readonly action: 'grounding.retrieve' | 'grounding.remember' | 'grounding.forget';
  readonly source: Pick<GroundingSource, 'id' | 'origins'>;
  readonly call: GroundingCallOptions;
}

export function tenantOf({ principal }: GroundingCallOptions): string {
  return principal?.tenant ?? 'local';
}

/**
 * Whose data of a source a call is about. For a source per subject it is never a tenant's name, so no tenant can be one.
 * @throws PinnaceError `forbidden` for another subject without the scope `admin`.
 */
export function ownerOf({ scope }: Pick<GroundingSource, 'scope'>, call: GroundingCallOptions): string {
  const tenant = tenantOf(call);
  if (scope !== 'subject') return tenant;
  const { principal, subject } = call;
  if (principal && subject !== undefined && subject !== principal.subject) requireScope(principal, 'admin');
  return JSON.stringify([tenant, subject ?? principal?.subject ?? 'local']);
}

/** The owner of the items that all tenants read: a control character, so that no tenant has the name. */
const everybody = '\u0001';

/** Whose items a caller reads: its own before those of all. */
export function readOwners(source: Pick<GroundingSource, 'scope'>, call: GroundingCallOptions): readonly string[] {
  const own = ownerOf(source, call);
  return source.scope === 'shared' ? [own, everybody] : [own];
}

/**
 * Whose items a caller writes.
 * @throws PinnaceError `forbidden` (`shared_items`) for `shared: true` of a caller that does not speak for the deployment,
 * `invalid_argument` (`source_not_shared`) of a source that is not shared.
 */
export function writeOwner(source: Pick<GroundingSource, 'id' | 'scope'>, call: GroundingCallOptions): string {
  const isDeployment = !call.principal || call.principal.deployment === true;
  const isShared = source.scope === 'shared';
  if (!(call.shared ?? (isShared && isDeployment))) return ownerOf(source, call);
  if (isShared && isDeployment) return everybody;
  const attempt = `Cannot write to the data source "${source.id}" for all tenants`;
  if (isShared) {
    throw new PinnaceError('forbidden', `${attempt}: only the deployment may`, { details: { reason: 'shared_items' } });
  }
  throw new PinnaceError('invalid_argument', `${attempt}: it is made without "shared: true"`, {
    details: { reason: 'source_not_shared' },
  });
}

/**
 * Returns the caller's rights as filters.
 * @throws PinnaceError `forbidden`, also for a source that is disabled, and what the records throw.
 */
export async function requireAccess(
  { authorize, access, records }: AccessHooks,
  wanted: Wanted,
): Promise<readonly Filter[]> {
  const { action, source: { id, origins = [] }, call: { principal, agentId, authorize: more } } = wanted;
  const outside = origins.find((origin) => !isWithinEgress(new URL(origin), wanted.call.origins));
  if (outside !== undefined) {
    throw egressDenied(`Cannot use the data source "${id}"`, outside, 'the "egress" of the agent');
  }
  await requireActive(records, { id, tenant: tenantOf(wanted.call) });
  for (const ask of new Set([authorize && reported(authorize, 'authorize', wanted.call), more])) {
    if (!ask) continue;
    if (!principal) throw forbidden(id, 'it is not known for whom');
    const context = agentId === undefined ? {} : { agentId };
    const ruling = await requestPermission(ask, { action, principal, resource: { type: 'data-source', id }, context });
    // No person can approve here: what needs an approval is denied.
    if (ruling.decision !== 'allow') {
      throw refusal({ ...ruling, decision: 'deny' }, `Cannot use the data source "${id}"`);
    }
  }
  return access ? await closed(reported(() => access(principal, id), 'access', wanted.call), id) : [];
}

/** What is disabled for all stays so for a tenant with a record of its own. */
async function requireActive(
  records: AccessHooks['records'],
  { id, tenant }: { readonly id: string; readonly tenant: string },
): Promise<void> {
  const found = await Promise.all([records?.dataSource(id), records?.dataSource(id, undefined, tenant)]);
  if (found.every((record) => record?.state !== 'disabled')) return;
  throw new PinnaceError('forbidden', `Cannot use the data source "${id}": it is disabled`, {
    details: { reason: 'data_source_disabled' },
  });
}

/** Returns the hook; what it throws is reported, since callers only learn that the access was denied. */
function reported<Args extends unknown[], Result>(
  hook: (...args: Args) => Result,
  id: string,
  { report }: GroundingCallOptions,
): (...args: Args) => Result {
  return report ? reportedHook(hook, (cause) => report(cause, { kind: 'hook', id }), id) : hook;
}

async function closed<T>(hook: () => T | Promise<T>, id: string): Promise<T> {
  try {
    return await hook();
  } catch (cause) {
    throw forbidden(id, 'the permission check failed', cause);
  }
}

function forbidden(id: string, why: string, cause?: unknown): PinnaceError {
  return new PinnaceError('forbidden', `Cannot use the data source "${id}": ${why}`, {
    details: { reason: 'not_authorized' },
    cause,
  });
}
