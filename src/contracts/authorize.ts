/** The port to the host's permissions. */

import type { Principal } from '../base/principal.ts';

/** What `Authorize` answers. */
export type Authorization =
  | { readonly decision: 'allow'; readonly reason?: string }
  | { readonly decision: 'deny'; readonly reason: string }
  | { readonly decision: 'ask'; readonly reason: string };

/**
 * Decides on one action (`tool.call`), called before it. An error in it denies. `resource.tenant` is the tenant whose record is
 * changed; absent, the record is shared or the resource is no record. What a tenant may not do across its boundary is refused
 * whatever the hook answers.
 */
export type Authorize = (
  action: string,
  principal: Principal,
  resource: { readonly type: string; readonly id: string; readonly tenant?: string },
  context: { readonly input?: unknown; readonly agentId?: string },
) => Authorization | Promise<Authorization>;
