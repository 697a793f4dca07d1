/** Who may use a source: what the host's hooks say, and nothing when they fail. */

import { PinnaceError } from '../../errors.ts';
import type { Filter } from '../../filter.ts';
import type { Authorize } from '../../ports.ts';
import type { ToolContext } from '../../tools/tool.ts';

type Principal = ToolContext['principal'];

/** The host's hooks. */
export interface AccessHooks {
  /** Is asked before every access (`grounding.retrieve`, `grounding.remember`, `grounding.forget`); an error in it denies. */
  readonly authorize?: Authorize;
  /** Access rights as filters, added to every question, whatever it says; an error in it denies. */
  readonly access?: (
    principal: Principal | undefined,
    dataSourceId: string,
  ) => readonly Filter[] | Promise<readonly Filter[]>;
}

/** For whom a call works. Without a principal it is whoever composes in process: the tenant `local`. */
export interface GroundingCallOptions {
  readonly principal?: Principal | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What is wanted, and by whom. */
export interface Wanted {
  readonly action: 'grounding.retrieve' | 'grounding.remember' | 'grounding.forget';
  readonly dataSourceId: string;
  readonly principal: Principal | undefined;
}

/** The tenant whose data a call is about. */
export function tenantOf({ principal }: GroundingCallOptions): string {
  return principal?.tenant ?? 'local';
}

/**
 * Gives the caller's rights as filters.
 *
 * @throws PinnaceError `forbidden`.
 */
export async function requireAccess({ authorize, access }: AccessHooks, wanted: Wanted): Promise<readonly Filter[]> {
  const { action, dataSourceId: id, principal } = wanted;
  if (authorize) {
    const answer = principal && await closed(() => authorize(action, principal, { type: 'data-source', id }, {}), id);
    if (answer?.decision !== 'allow') throw forbidden(id, answer?.reason ?? 'it is not known for whom');
  }
  return access ? await closed(() => access(principal, id), id) : [];
}

async function closed<T>(hook: () => T | Promise<T>, id: string): Promise<T> {
  try {
    return await hook();
  } catch {
    throw forbidden(id, 'the permission check failed');
  }
}

function forbidden(id: string, why: string): PinnaceError {
  return new PinnaceError('forbidden', `Cannot use the data source "${id}": ${why}`);
}
