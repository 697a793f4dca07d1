/** What a prompt has that the one before it did not. */

import type { PromptMessage } from '../../control/runs-control.ts';

/** How many messages, from the first on, are as in the call before. The last one is always shown as new. */
export function newFrom(messages: readonly PromptMessage[], before: readonly PromptMessage[] | undefined): number {
  const most = Math.min(before?.length ?? 0, messages.length - 1);
  for (let i = 0; i < most; i++) {
    if (JSON.stringify(messages[i]) !== JSON.stringify(before?.[i])) return i;
  }
  return Math.max(0, most);
}
