import { PinnaceError } from '../base/errors.ts';

/** The error for a tenant that would change what the deployment shares. `attempt` names the action: `update agent "helper"`. */
export function sharedRecord(attempt: string): PinnaceError {
  return new PinnaceError(
    'forbidden',
    `Cannot ${attempt}: the deployment shares it with all tenants, so only a principal of the deployment may`,
    { details: { reason: 'shared_record' } },
  );
}
