/** The errors of sign-ins to MCP servers. */

import { PinnaceError } from '../base/errors.ts';
import { refusal } from '../permission/interruption.ts';

export function notApproved(): PinnaceError {
  const why = 'its authorization server is not approved; check the server and approve it first';
  return refusal('conflict', `Cannot sign in to the MCP server: ${why}`, 'mcp_auth_not_approved');
}

export function authChanged(): PinnaceError {
  const why = 'its authorization server is not the one that was approved; check the server again';
  return refusal('conflict', `Cannot sign in to the MCP server: ${why}`, authChangedReason);
}

export const authChangedReason = 'mcp_auth_changed';

/** The error of a state that was never issued, was used, or is too old: which of them, it does not say. */
export function unknownSignIn(): PinnaceError {
  const message = 'Cannot finish the sign-in: it was not started here, is finished, or took too long';
  return refusal('not_found', message, 'mcp_sign_in_not_found');
}

export function otherPerson(): PinnaceError {
  return refusal('forbidden', 'Cannot finish the sign-in: another person has started it', 'mcp_sign_in_of_another');
}

export function signInRequired(alias: string): PinnaceError {
  const message = `Cannot use MCP server "${alias}": sign in to it first`;
  return refusal('approval_required', message, 'mcp_sign_in_required');
}

export function isSignInRequired(error: unknown): boolean {
  return error instanceof PinnaceError && error.details?.['reason'] === 'mcp_sign_in_required';
}

export function isClientUnknown(error: unknown): boolean {
  return ['invalid_client', 'unauthorized_client'].includes(oauthErrorOf(error));
}

/** Whether the authorization server has refused for good: only another sign-in helps. */
export function isRefusedForGood(error: unknown): boolean {
  const code = oauthErrorOf(error);
  return code !== '' && code !== 'server_error' && code !== 'temporarily_unavailable';
}

function oauthErrorOf(error: unknown): string {
  const { reason, oauthError } = (error instanceof PinnaceError && error.details) || {};
  return reason === 'mcp_grant_invalid' ? 'invalid_grant' : typeof oauthError === 'string' ? oauthError : '';
}

/** The error of a composition without sign-ins: `not_found` for its routes, `unavailable` for a call that needs one. */
export function noSignIn(code: 'not_found' | 'unavailable' = 'unavailable'): PinnaceError {
  return refusal(code, 'Cannot sign in to the MCP server: the composition has no "mcpSignIn"', 'no_mcp_sign_in');
}

/** The error of a call that the server refuses although the person has signed in for all that it asks for. */
export function scopeRefused(): PinnaceError {
  const message = 'Cannot use the MCP server: it refuses the call to the person who signed in';
  return refusal('forbidden', message, 'mcp_scope_refused');
}
