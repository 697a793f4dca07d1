/** Checks the scopes and agents that an app grants to callers. */

import { wrongArgument } from '../../src/base/check-options.ts';
import { scopes } from '../../src/base/principal.ts';

export function checkScopes(action: string, given: readonly string[]): void {
  const known: readonly string[] = scopes;
  const unknown = given.find((scope) => !known.includes(scope));
  if (unknown === undefined) return;
  throw wrongArgument(action, 'scopes', `there is no scope "${unknown}"; there are ${known.join(', ')}`);
}

export function checkAgents(action: string, agents: unknown): void {
  if (agents !== '*' && !Array.isArray(agents)) {
    throw wrongArgument(action, 'agents', '"agents" must be "*" or an array of ids');
  }
  if (agents !== '*' && agents.includes('*')) {
    throw wrongArgument(
      action,
      'agents',
      '"agents" lists "*", which no agent is called; for all agents pass "*" itself',
    );
  }
}
