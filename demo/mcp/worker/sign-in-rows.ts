/** The sign-ins of the page's person, one for each server, as the page of the vault lists them. */

import { toData } from '../../../src/base/errors.ts';
import { localPrincipal } from '../../../src/base/principal.ts';
import type { McpServer } from '../../../src/registry/index.ts';
import type { HostedRuntime } from '../../../src/runtime/index.ts';
import type { SignInRow } from '../../control/registry-control.ts';

/** Returns the sign-ins at these servers. One whose tokens the locked vault seals is `locked`. */
export async function signInRows(
  servers: readonly McpServer[],
  { mcpSignIns }: Pick<HostedRuntime, 'mcpSignIns'>,
): Promise<readonly SignInRow[]> {
  const rows = await Promise.all(servers.map(async (server): Promise<readonly SignInRow[]> => {
    const { id: serverId, alias, auth, pinned } = server;
    if (!auth || !pinned?.auth) return [];
    const facts = { serverId, alias, issuer: auth.issuer, resource: pinned.auth.resource };
    try {
      const { state, scopes, expiresAt } = await mcpSignIns.grant(serverId, localPrincipal());
      if (state === 'none') return [];
      return [{ ...facts, state, scopes, ...(expiresAt !== undefined && { expiresAt }) }];
    } catch (error) {
      if (toData(error).details?.['reason'] === 'vault_locked') return [{ ...facts, state: 'locked', scopes: [] }];
      throw error;
    }
  }));
  return rows.flat();
}
