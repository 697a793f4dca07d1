/** The tree panel of a page, which lives as long as the page does. */

import { agentOf, type Playground } from '../../app/state/playground.ts';
import { createTreePanel, type TreePanel } from '../state/tree-panel.ts';
import { oncePer } from '../../kit/hooks/once-per.ts';

/** Returns the panel, which opens on first use. */
export const panelOf: (playground: Playground) => TreePanel = oncePer((playground: Playground): TreePanel => {
  const panel = createTreePanel({
    control: playground.tree.connect(),
    announce: ({ by, text }) => void (playground.announcement.value = `${nameOfWho(playground, by)}: ${text}`),
  });
  panel.open().catch(() => void (panel.problem.value = 'The tree could not be opened. Reload the page to try again.'));
  return panel;
});

/** Who has changed the tree, by name. */
export function nameOfWho({ agents }: Playground, by: string): string {
  const others: Readonly<Record<string, string>> = { you: 'You', elsewhere: 'Another tab' };
  return others[by] ?? agentOf(agents, by).name;
}
