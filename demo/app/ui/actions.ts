/** What the page does at a key, wherever the person is. The palette lists it with everything else. */

import { isMac, isWriting } from '../../kit/panel-cover.ts';
import type { Playground } from '../state/playground.ts';
import type { Screen } from '../state/route.ts';
import { isCovered, showAgents, showBeside, showRuns, uncover } from '../state/screens.ts';
import type { IconName } from '../../kit/icon.tsx';

/** Something with a key: Alt and a letter. */
export interface KeyedAction {
  readonly id: string;
  readonly icon: IconName;
  readonly title: string;
  /** The letter, in lower case. */
  readonly key: string;
  readonly go: (playground: Playground) => void;
}

/** All of them. The letters are none that browsers need. */
export const keyedActions: readonly KeyedAction[] = [
  { id: 'new-chat', icon: 'plus', title: 'New chat', key: 'n', go: startChat },
  {
    id: 'runs',
    icon: 'waterfall',
    title: 'Runs: what happened',
    key: 'r',
    go: (playground) => isOn(playground, 'runs', 'run') ? uncover(playground) : showRuns(playground),
  },
  {
    id: 'agents',
    icon: 'records',
    title: 'Agents, tools and MCP servers',
    key: 'a',
    go: (playground) => isOn(playground, 'agents') ? uncover(playground) : showAgents(playground),
  },
  {
    id: 'files',
    icon: 'book',
    title: 'Files',
    key: 'k',
    go: (playground) =>
      isOn(playground, 'files') ? uncover(playground) : void (playground.screen.value = { name: 'files' }),
  },
  { id: 'tree', icon: 'tree', title: 'Tree of the shipyard', key: 't', go: toggleTree },
  {
    id: 'model',
    icon: 'lock',
    title: 'Model settings',
    key: 'm',
    go: ({ overlay }) => (overlay.value = 'settings'),
  },
  {
    id: 'chat-settings',
    icon: 'sliders',
    title: 'Chat settings: system prompt and parameters',
    key: 's',
    go: ({ overlay }) => (overlay.value = 'chat-settings'),
  },
];

function isOn({ screen }: Playground, ...names: readonly Screen['name'][]): boolean {
  return names.some((name) => name === screen.value?.name);
}

function startChat(playground: Playground): void {
  uncover(playground);
  playground.chats.start();
  playground.focusRequests.value++;
}

function toggleTree(playground: Playground): void {
  showBeside(playground, 'tree', !playground.tree.isShown.value || isCovered(playground));
}

/** The action of a key. On a Mac, Alt types letters in text fields. */
export function actionOf(
  { altKey, ctrlKey, metaKey, shiftKey, code, target }: KeyboardEvent,
): KeyedAction | undefined {
  if (!altKey || ctrlKey || metaKey || shiftKey || !code.startsWith('Key')) return undefined;
  if (isMac() && isWriting(target)) return undefined;
  return keyedActions.find(({ key }) => code === `Key${key.toUpperCase()}`);
}

/** The key as a person reads it. */
export function sayKey(key: string): string {
  return isMac() ? `⌥ ${key.toUpperCase()}` : `Alt ${key.toUpperCase()}`;
}
