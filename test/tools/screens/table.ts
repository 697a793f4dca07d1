/** Every screen of the playground. Tests look at each, and `npm run pictures` takes each. */

import { chatScreens } from './chat-screens.ts';
import { consoleScreens } from './console-screens.ts';
import { failureScreens } from './failure-screens.ts';
import { mcpScreens } from './mcp-screens.ts';
import { registryScreens } from './registry-screens.ts';
import type { Screen, ScreenName } from './screen.ts';
import { sideScreens } from './side-screens.ts';
import { workshopScreens } from './workshop-screens.ts';

const screens: Readonly<Record<ScreenName, Screen>> = {
  ...chatScreens,
  ...sideScreens,
  ...registryScreens,
  ...mcpScreens,
  ...workshopScreens,
  ...consoleScreens,
  ...failureScreens,
};

export type NamedScreen = Screen & { readonly name: string };

/** Screens that are reached one from the other; the first of them from the playground as it is opened for the first time. */
export type Walk = readonly [NamedScreen, ...NamedScreen[]];

/** Returns all walks. Together they visit every screen once. */
export function walks(): readonly Walk[] {
  const all: [NamedScreen, ...NamedScreen[]][] = [];
  for (const [name, screen] of Object.entries(screens)) {
    if (screen.isFirst) all.push([{ name, ...screen }]);
    else all.at(-1)?.push({ name, ...screen });
  }
  return all;
}
