/** Opens and closes the pages over the chat and the panels beside it. */

import type { KnowledgePlace } from '../../knowledge/worker/place.ts';
import { endpointOf } from '../../settings/state/settings.ts';
import type { Playground } from './playground.ts';
import { newAgent, type RunScreen, type RunsScreen, type Screen, type Where } from './route.ts';

/** The panels beside the chat, one at a time. */
export type Beside = 'tree' | 'knowledge';

/** Whether a page lies over the chat, which goes on behind it. */
export function isCovered({ screen }: Playground): boolean {
  return screen.value !== undefined;
}

/** Goes back to the chat. */
export function uncover({ screen }: Playground): void {
  screen.value = undefined;
}

/** Shows this panel beside the chat instead of the current one; `isShown` false: none. */
export function showBeside(playground: Playground, beside: Beside, isShown = true): void {
  playground.tree.isShown.value = isShown && beside === 'tree';
  playground.knowledge.isShown.value = isShown && beside === 'knowledge';
  if (isShown) uncover(playground);
}

export function showPlace(playground: Playground, place: KnowledgePlace): void {
  playground.knowledge.wanted.value = place;
  if (playground.screen.value?.name !== 'files') showBeside(playground, 'knowledge');
}

/** Where the chats of this page run now. */
export function whereOf({ settings }: Playground): Where {
  return endpointOf(settings.choice.value) === undefined ? 'page' : 'server';
}

/** Shows the list of agents, of tools or of another section, or a record of it. */
export function showAgents(playground: Playground, { section, record, where = whereOf(playground) }: {
  readonly section?: string;
  readonly record?: string;
  readonly where?: Where;
} = {}): void {
  playground.agentsAt[where].value = section === undefined || (section === 'agent' && record === undefined)
    ? []
    : [section, ...(record === undefined ? [] : [record])];
  playground.screen.value = { name: 'agents', where };
}

/** Shows the form of a new agent. */
export function showNewAgent({ agentsAt, screen }: Playground): void {
  agentsAt.page.value = newAgent;
  screen.value = { name: 'agents', where: 'page' };
}

/** Shows the runs, or another part of their page. */
export function showRuns(playground: Playground, shown: Partial<Omit<RunsScreen, 'name'>> = {}): void {
  playground.screen.value = { name: 'runs', where: whereOf(playground), section: 'list', ...shown };
}

/** Shows one run. Opened from the page of runs, it leads back there. */
export function showRun({ screen }: Playground, run: Omit<RunScreen, 'name' | 'from'>): void {
  const from = fromOf(screen.peek());
  screen.value = { name: 'run', ...run, ...(from && { from }) };
}

function fromOf(screen: Screen | undefined): RunsScreen | undefined {
  if (screen?.name === 'runs') return screen;
  return screen?.name === 'run' ? screen.from : undefined;
}
