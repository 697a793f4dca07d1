/** The port to the host's permissions. */

import type { Principal } from '../base/principal.ts';

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
  };

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
  context: { readonly input?: unknown; readonly agentId?: string },
) => Authorization | Promise<Authorization>;
