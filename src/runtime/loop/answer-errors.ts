/** The errors of answers that a run cannot take. */

import { PinnaceError } from '../../base/errors.ts';

/** The error for a provider that wants a person to approve a tool of its own: no decision can go back to it. */
export function approvalOfProvider(): PinnaceError {
  return new PinnaceError(
    'unavailable',
    "The model endpoint asks for the approval of a tool of its own, which runs cannot give: configure the provider's tool to need none",
    { retryable: false, details: { reason: 'provider_approval' } },
  );
}

/** The error for parts in an order that no model sends them in. */
export function invalidAnswer(): PinnaceError {
  return new PinnaceError('unavailable', 'The model endpoint answered something else than a model does', {
    details: { reason: 'provider_invalid_response' },
  });
}
