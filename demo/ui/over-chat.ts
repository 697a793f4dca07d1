/** What lies over the chat, as a page of its own. The chat goes on behind it. */

import type { Playground } from '../state/playground.ts';

/** Whether something does. */
export function isCovered({ registry, inspector }: Playground): boolean {
  return registry.isShown.value || inspector.shown.value !== undefined;
}

/** Goes back to the chat. */
export function uncover({ registry, inspector }: Playground): void {
  registry.isShown.value = false;
  inspector.shown.value = undefined;
}
