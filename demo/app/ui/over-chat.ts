/** What lies over the chat, as a page of its own. The chat goes on behind it. */

import type { Playground } from '../state/playground.ts';

/** Whether something does. */
export function isCovered(
  { registry, inspector, privacy, workshop, console: endpointConsole }: Playground,
): boolean {
  return [registry, privacy, endpointConsole].some(({ isShown }) => isShown.value) ||
    inspector.shown.value !== undefined || workshop.value !== undefined;
}

/** Goes back to the chat. */
export function uncover({ registry, inspector, privacy, workshop, console: endpointConsole }: Playground): void {
  registry.isShown.value = false;
  privacy.isShown.value = false;
  inspector.shown.value = undefined;
  workshop.value = undefined;
  endpointConsole.isShown.value = false;
}
