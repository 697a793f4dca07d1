/** The keys of the tree, as the WAI-ARIA tree pattern has them, and those that change it. */

import type { TreePanel } from '../state/tree-panel.ts';
import type { PanelRow } from '../../control/tree-control.ts';
import { add, moveBy, paste, rename, toggleDone } from './edits.ts';

/** Handles a key. Returns whether the key has a meaning. */
export type TreeKeys = (event: KeyboardEvent, rowsInSight: number) => boolean;

/** Letters typed in this time are one word. */
const wordMs = 700;

export function createTreeKeys(panel: TreePanel, now: () => number = Date.now): TreeKeys {
  let [typed, at] = ['', 0];
  return (event, rowsInSight) => {
    const rank = panel.active.value?.rank ?? -1;
    const row = panel.row(rank);
    const key = keyOf(event);
    if (key.length === 1 && key !== ' ' && key !== '/') {
      typed = now() - at < wordMs ? typed + key : key;
      at = now();
      void panel.typeAhead(typed);
      return true;
    }
    if (key === ' ' && typed !== '' && now() - at < wordMs) {
      typed += ' ';
      void panel.typeAhead(typed);
      return true;
    }
    typed = '';
    if (key === 'Escape' && panel.cut.value) {
      panel.cut.value = undefined;
      return true;
    }
    return move(panel, key, { rank, rowsInSight }) || (row !== undefined && act(panel, key, row));
  };
}

/** `Alt+ArrowUp`; the command key counts as Ctrl. */
function keyOf({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): string {
  const modifiers = `${ctrlKey || metaKey ? 'Ctrl+' : ''}${altKey ? 'Alt+' : ''}`;
  return `${modifiers}${modifiers !== '' && key.length === 1 ? key.toLowerCase() : key}`;
}

function move(panel: TreePanel, key: string, { rank, rowsInSight }: { rank: number; rowsInSight: number }): boolean {
  const last = (panel.status.value?.rowCount ?? 0) - 1;
  const page = Math.max(1, rowsInSight - 1);
  const ranks: Readonly<Record<string, number>> = {
    ArrowDown: rank + 1,
    ArrowUp: rank - 1,
    Home: 0,
    End: last,
    PageDown: rank + page,
    PageUp: rank - page,
  };
  const to = ranks[key];
  if (to === undefined) return false;
  void panel.goTo(to);
  return true;
}

function act(panel: TreePanel, key: string, row: PanelRow): boolean {
  const action = actions[key];
  if (!action) return false;
  action(panel, row);
  return true;
}

type Action = (panel: TreePanel, row: PanelRow) => void;

const actions: Readonly<Record<string, Action>> = {
  'ArrowRight': (panel, row) => {
    if (row.childrenCount === 0) return;
    if (row.isExpanded) void panel.goTo((panel.active.value?.rank ?? 0) + 1);
    else void panel.setExpanded(row, true);
  },
  'ArrowLeft': (panel, row) => {
    if (row.isExpanded && row.childrenCount > 0) void panel.setExpanded(row, false);
    else if (row.parentId !== null) void panel.show(row.parentId);
  },
  'Enter': activate,
  ' ': activate,
  'F2': rename,
  'Insert': (panel, row) => void add(panel, row),
  'Ctrl+Enter': (panel, row) => void add(panel, row),
  'Delete': (panel, { nodeId }) => void panel.change('remove_node', { nodeId }),
  'Alt+ArrowUp': (panel, row) => void moveBy(panel, row, -1),
  'Alt+ArrowDown': (panel, row) => void moveBy(panel, row, 1),
  'Ctrl+x': (panel, row) => void (panel.cut.value = row),
  'Ctrl+v': (panel, row) => void paste(panel, row),
  'Ctrl+z': (panel) => void panel.undo(),
};

/** Opens or closes what has children; a task is done or not. */
function activate(panel: TreePanel, row: PanelRow): void {
  if (row.childrenCount > 0) void panel.setExpanded(row, !row.isExpanded);
  else void toggleDone(panel, row);
}
