import type { JSX } from 'preact';
import type { TreePanel } from '../state/tree-panel.ts';
import type { PanelRow } from '../../control/tree-control.ts';
import { Icon, type IconName } from '../../kit/icon.tsx';
import { add, moveBy, paste, rename } from './edits.ts';

interface ToolButton {
  readonly id: string;
  readonly icon: IconName;
  readonly label: string;
  readonly keys?: string;
  /** Turned round, for a drawing that points the other way. */
  readonly isTurned?: boolean;
  readonly isOff: (row: PanelRow, panel: TreePanel) => boolean;
  readonly act: (panel: TreePanel, row: PanelRow) => void;
}

const isRoot = ({ parentId }: PanelRow): boolean => parentId === null;

const buttons: readonly ToolButton[] = [
  {
    id: 'add',
    icon: 'plus',
    label: 'Add below',
    keys: 'Insert',
    isOff: () => false,
    act: (panel, row) => void add(panel, row),
  },
  { id: 'rename', icon: 'rename', label: 'Rename', keys: 'F2', isOff: () => false, act: rename },
  {
    id: 'up',
    icon: 'up',
    label: 'Move up',
    keys: 'Alt+ArrowUp',
    isOff: (row) => isRoot(row) || row.position === 0,
    act: (panel, row) => void moveBy(panel, row, -1),
  },
  {
    id: 'down',
    icon: 'up',
    label: 'Move down',
    keys: 'Alt+ArrowDown',
    isTurned: true,
    isOff: (row) => isRoot(row) || row.position === row.siblings - 1,
    act: (panel, row) => void moveBy(panel, row, 1),
  },
  {
    id: 'cut',
    icon: 'cut',
    label: 'Cut',
    keys: 'Control+X',
    isOff: isRoot,
    act: (panel, row) => void (panel.cut.value = row),
  },
  {
    id: 'paste',
    icon: 'paste',
    label: 'Paste inside this node',
    keys: 'Control+V',
    isOff: ({ nodeId }, { cut }) => cut.value === undefined || cut.value.nodeId === nodeId,
    act: (panel, row) => void paste(panel, row),
  },
  {
    id: 'remove',
    icon: 'trash',
    label: 'Remove',
    keys: 'Delete',
    isOff: isRoot,
    act: (panel, { nodeId }) => void panel.change('remove_node', { nodeId }),
  },
  {
    id: 'expand-all',
    icon: 'unfold',
    label: 'Expand everything below',
    isOff: ({ childrenCount }) => childrenCount === 0,
    act: (panel, row) => void panel.setAll(row, true),
  },
  {
    id: 'collapse-all',
    icon: 'fold',
    label: 'Collapse everything below',
    isOff: ({ childrenCount }) => childrenCount === 0,
    act: (panel, row) => void panel.setAll(row, false),
  },
];

export function TreeTools({ panel }: { panel: TreePanel }): JSX.Element {
  const row = panel.row(panel.active.value?.rank ?? -1);
  return (
    <div class='tree-tools' role='group' aria-label='Selected row'>
      {buttons.map(({ id, icon, label, keys, isTurned, isOff, act }) => (
        <button
          key={id}
          type='button'
          class='icon-button'
          data-testid={`tree-${id}`}
          data-turned={isTurned}
          aria-label={label}
          aria-keyshortcuts={keys}
          title={keys === undefined ? label : `${label} (${keys.replace('Control', 'Ctrl').replace('Arrow', '')})`}
          disabled={!row || isOff(row, panel)}
          onClick={() => row && act(panel, row)}
        >
          <Icon name={icon} />
        </button>
      ))}
    </div>
  );
}
