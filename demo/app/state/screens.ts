/** Opens and closes the pages over the chat and the panels beside it. */

import type { Signal } from '@preact/signals';
import type { KnowledgeControl } from '../../control/knowledge-control.ts';
import type { TreeControl } from '../../control/tree-control.ts';
import type { KnowledgePlace } from '../../knowledge/worker/place.ts';
import { endpointOf, type Settings } from '../../settings/state/settings.ts';
import { newAgent, type RunScreen, type RunsScreen, type Screen, type Where } from './route.ts';

/** What lies over the chat, if anything. */
export type Overlay = 'none' | 'settings' | 'server' | 'chat-settings' | 'switcher' | 'drawer' | 'keys' | 'share';

/** Where on the page the person is. */
export interface Places {
  readonly settings: Settings;
  readonly overlay: Signal<Overlay>;
  /** The tree beside the chat: whether it is shown, and the way to it. */
  readonly tree: { readonly isShown: Signal<boolean>; readonly connect: () => TreeControl };
  /** The page over the chat, if any. */
  readonly screen: Signal<Screen | undefined>;
  /** Where in the agents of this page and of a server the person is: a section, a record, its form. */
  readonly agentsAt: Readonly<Record<Where, Signal<readonly string[]>>>;
  /** What an address named that leads nowhere: its first part, or `c` for a chat. */
  readonly nowhere: Signal<string | undefined>;
  /** The files beside the chat: whether they are shown, what of them, and the way to them. */
  readonly knowledge: {
    readonly isShown: Signal<boolean>;
    /** The file that is open. */
    readonly at: Signal<readonly string[]>;
    /** The place to open; the reader clears it. */
    readonly wanted: Signal<KnowledgePlace | undefined>;
    readonly connect: () => KnowledgeControl;
  };
}

/** The panels beside the chat, one at a time. */
export type Beside = 'tree' | 'knowledge';

/** Whether a page lies over the chat, which goes on behind it. */
export function isCovered({ screen }: Places): boolean {
  return screen.value !== undefined;
}

/** Goes back to the chat. */
export function uncover({ screen }: Places): void {
  screen.value = undefined;
}

/** Shows this panel beside the chat instead of the current one; `isShown` false: none. */
export function showBeside(places: Places, beside: Beside, isShown = true): void {
  places.tree.isShown.value = isShown && beside === 'tree';
  places.knowledge.isShown.value = isShown && beside === 'knowledge';
  if (isShown) uncover(places);
}

export function showPlace(places: Places, place: KnowledgePlace): void {
  places.knowledge.wanted.value = place;
  if (places.screen.value?.name !== 'files') showBeside(places, 'knowledge');
}

/** Where the chats of this page run now. */
export function whereOf({ settings }: Places): Where {
  return endpointOf(settings.choice.value) === undefined ? 'page' : 'server';
}

/** Shows the list of agents, of tools or of another section, or a record of it. */
export function showAgents(places: Places, { section, record, where = whereOf(places) }: {
  readonly section?: string;
  readonly record?: string;
  readonly where?: Where;
} = {}): void {
  places.agentsAt[where].value = section === undefined || (section === 'agent' && record === undefined)
    ? []
    : [section, ...(record === undefined ? [] : [record])];
  places.screen.value = { name: 'agents', where };
}

/** Shows the form of a new agent. */
export function showNewAgent({ agentsAt, screen }: Places): void {
  agentsAt.page.value = newAgent;
  screen.value = { name: 'agents', where: 'page' };
}

/** Shows the runs, or another part of their page. */
export function showRuns(places: Places, shown: Partial<Omit<RunsScreen, 'name'>> = {}): void {
  places.screen.value = { name: 'runs', where: whereOf(places), section: 'list', ...shown };
}

/** Shows one run. Opened from the page of runs, it leads back there. */
export function showRun({ screen }: Places, run: Omit<RunScreen, 'name' | 'from'>): void {
  const from = fromOf(screen.peek());
  screen.value = { name: 'run', ...run, ...(from && { from }) };
}

function fromOf(screen: Screen | undefined): RunsScreen | undefined {
  if (screen?.name === 'runs') return screen;
  return screen?.name === 'run' ? screen.from : undefined;
}
