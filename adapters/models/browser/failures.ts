/** Errors of the Prompt API as errors of Pinnace. */

import { PinnaceError } from '../../../src/base/errors.ts';

/** Returns the error for one that the Prompt API rejected with. The original stays as `cause`; its text is not repeated. */
export function toBrowserModelError(cause: unknown): PinnaceError {
  if (cause instanceof PinnaceError) return cause;
  switch (nameOf(cause)) {
    case 'AbortError':
      return new PinnaceError('cancelled', 'The model call was cancelled', { cause });
    case 'NotAllowedError':
      return new PinnaceError('forbidden', 'The browser downloads its model only after a click: prepare it first', {
        cause,
        details: { reason: 'needs_gesture' },
      });
    case 'NetworkError':
      return unavailable('The browser could not download its model', 'download_failed', { cause, retryable: true });
    case 'QuotaExceededError':
      return contextOverflow(cause);
    case 'NotSupportedError':
      return new PinnaceError('invalid_argument', 'The browser’s model does not support this input or language', {
        cause,
        details: { reason: 'provider_invalid_request' },
      });
    case 'SyntaxError':
      return unavailable('The browser’s model did not answer in the required form', 'provider_invalid_response', {
        cause,
        retryable: true,
      });
    default:
      return unavailable('The browser’s model failed', 'provider_unavailable', { cause, retryable: true });
  }
}

export function noBrowserModel(): PinnaceError {
  return unavailable('This browser has no model of its own', 'no_browser_model', { retryable: false });
}

export function pageGone(): PinnaceError {
  return unavailable('The page that has the browser’s model is closed', 'page_gone', { retryable: false });
}

/** Whether the conversation was ended by the browser, for example to free memory. */
export function isSessionEnded(error: unknown): boolean {
  return nameOf(error) === 'InvalidStateError';
}

export function nameOf(error: unknown): string {
  return error instanceof Error || error instanceof DOMException ? error.name : '';
}

function contextOverflow(cause: unknown): PinnaceError {
  const { requested, quota } = cause as { readonly requested?: unknown; readonly quota?: unknown }; // an error, by its name
  return new PinnaceError('invalid_argument', 'The conversation is longer than the browser’s model can read', {
    cause,
    details: {
      reason: 'context_overflow',
      ...(typeof requested === 'number' && { requested }),
      ...(typeof quota === 'number' && { quota }),
    },
  });
}

function unavailable(
  message: string,
  reason: string,
  { cause, retryable }: { readonly cause?: unknown; readonly retryable: boolean },
): PinnaceError {
  return new PinnaceError('unavailable', message, { cause, retryable, details: { reason } });
}
