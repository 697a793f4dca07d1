/** Errors of the browser's own model in a person's words. */

import type { ErrorData } from '../../../src/base/errors.ts';

const byReason: Readonly<Record<string, string>> = {
  needs_gesture: 'The browser starts the download only after a click. Press the button again.',
  download_failed: 'The browser could not download its model. Check your connection and that 22 GB of disk are free.',
  no_browser_model: 'This browser has no built-in model.',
};

/** Returns what went wrong and what to do. */
export function describeBrowserProblem({ message, details }: ErrorData): string {
  const reason = details?.['reason'];
  const known = typeof reason === 'string' && Object.hasOwn(byReason, reason) ? byReason[reason] : undefined;
  return known ?? `${message}. Try again.`;
}
