/** The keys of the tree, as the WAI-ARIA tree pattern has them, and those that change it. */

import { type Signal, useComputed, useSignal, useSignalEffect } from '@preact/signals';
import type { JSX, RefObject } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import type { PanelRow } from '../../control/tree-control.ts';
import { ranksIn, RowSpace, useRows } from '../../kit/hooks/use-rows.tsx';
import type { TreePanel } from '../state/tree-panel.ts';
import { add, drop, type DropPlace, moveBy, paste, rename, setName, toggleDone } from './edits.ts';
import { type RowActions, rowId, TreeRow } from './tree-row.tsx';

const rowHeight = { fine: 30, coarse: 40 };

/** The visible rows of the tree. The list has the focus and names the active row. */
export function TreeList({ panel, nameOf }: { panel: TreePanel; nameOf: (by: string) => string }): JSX.Element {
  const rows = useRows(useComputed(() => panel.status.value?.rowCount ?? 0), { rowHeight, overscan: 6 });
  const { scroller } = rows;
  const dropping = useSignal<Dropping | undefined>(undefined);
  const dragged = useRef<string | undefined>(undefined);
  const keys = useMemo(() => createTreeKeys(panel), [panel]);

  useSignalEffect(() => panel.look(rows.drawn.value));
  useSignalEffect(() => {
    const wanted = panel.scroll.value;
    if (wanted?.by !== undefined) rows.scrollBy(wanted.by);
    else if (wanted) rows.reveal(wanted.rank);
  });
  useFocusAfterWriting(panel, scroller.ref);
  const actions = useMemo(() => rowActions(panel, { dragged, dropping }), [panel]);

  const { first, count, from, to, pool } = rows.drawn.value;
  const active = panel.active.value;
  const isActiveDrawn = active !== undefined && active.rank >= from && active.rank < to;
  return (
    <div
      {...scroller}
      class='tree-list'
      role='tree'
      tabIndex={0}
      aria-label='The yard'
      aria-activedescendant={isActiveDrawn ? rowId(active.rank) : undefined}
      data-testid='tree-list'
      onFocus={() => active === undefined && void panel.goTo(first)}
      onKeyDown={(event) => {
        if (keys(event, count - 1)) event.preventDefault();
      }}
      onDragEnd={() => (dropping.value = dragged.current = undefined)}
    >
      <RowSpace rows={rows}>
        {ranksIn({ from, to }).map((rank) => (
          <Slot
            key={rank % pool}
            rank={rank}
            panel={panel}
            nameOf={nameOf}
            actions={actions}
            dropping={dropping.value}
          />
        ))}
      </RowSpace>
    </div>
  );
}

/** Focuses the list when a name is no longer edited. */
function useFocusAfterWriting(panel: TreePanel, scroller: RefObject<HTMLDivElement | null>): void {
  const wasWriting = useRef(false);
  useSignalEffect(() => {
    const isWriting = panel.writing.value !== undefined;
    if (wasWriting.current && !isWriting) giveBackFocus(scroller.current);
    wasWriting.current = isWriting;
  });
}

interface Dragging {
  readonly dragged: { current: string | undefined };
  readonly dropping: Signal<Dropping | undefined>;
}

interface Dropping {
  readonly rank: number;
  readonly place: DropPlace;
}

function rowActions(panel: TreePanel, { dragged, dropping }: Dragging): RowActions {
  return {
    onChoose: (rank) => void panel.goTo(rank),
    onToggle: (row) => void panel.setExpanded(row, !row.isExpanded),
    onCheck: (row) => void toggleDone(panel, row),
    onName: (row, name) => void setName(panel, row, name),
    onWrite: (row) => rename(panel, row),
    onCancel: () => panel.write(undefined),
    onDrag: ({ nodeId }) => void (dragged.current = nodeId),
    onDragOver(rank, event) {
      if (dragged.current === undefined) return;
      event.preventDefault();
      const place = placeIn(event);
      const { rank: at, place: in_ } = dropping.value ?? {};
      if (at !== rank || in_ !== place) dropping.value = { rank, place };
    },
    onDrop(event) {
      event.preventDefault();
      const row = panel.row(dropping.value?.rank ?? -1);
      if (row && dropping.value && dragged.current !== undefined) {
        void drop(panel, dragged.current, { row, place: dropping.value.place });
      }
      dropping.value = dragged.current = undefined;
    },
  };
}

interface SlotProps {
  readonly rank: number;
  readonly panel: TreePanel;
  readonly nameOf: (by: string) => string;
  readonly actions: RowActions;
  readonly dropping: { readonly rank: number; readonly place: DropPlace } | undefined;
}

/** A placeholder for a row that is still loading. */
const blank: PanelRow = {
  nodeId: '',
  parentId: null,
  payloadType: 'area',
  name: '',
  person: undefined,
  state: undefined,
  depth: 0,
  isExpanded: false,
  childrenCount: 0,
  position: 0,
  siblings: 1,
};

/** The row with this rank, or the place where it is going to be. It is not compared again when nothing of it has changed. */
function Slot({ rank, panel, nameOf, actions, dropping }: SlotProps): JSX.Element {
  const { offset, rows } = panel.window.value;
  const row = rows[rank - offset] ?? blank;
  const activity = panel.marks.value.get(row.nodeId);
  const who = activity && nameOf(activity.by);
  const isActive = panel.active.value?.nodeId === row.nodeId;
  const isCut = panel.cut.value?.nodeId === row.nodeId;
  const isWriting = panel.writing.value?.nodeId === row.nodeId;
  const dropPlace = dropping?.rank === rank ? dropping.place : undefined;
  return useMemo(() => {
    const mark = activity && who !== undefined ? { ...activity, who } : undefined;
    const state = { isEmpty: row === blank, isActive, isCut, isWriting, dropPlace, mark };
    return <TreeRow row={row} rank={rank} {...state} actions={actions} />;
  }, [row, rank, activity, who, isActive, isCut, isWriting, dropPlace, actions]);
}

/** Returns the focus from the removed field, unless the person has moved it. */
function giveBackFocus(list: HTMLElement | null): void {
  const focused = document.activeElement;
  if (focused === document.body || list?.contains(focused)) list?.focus({ preventScroll: true });
}

/** The upper quarter of a row is the place before it, the lower one the place after it. */
function placeIn({ currentTarget, clientY }: DragEvent): DropPlace {
  if (!(currentTarget instanceof Element)) return 'into';
  const { top, height } = currentTarget.getBoundingClientRect();
  const at = (clientY - top) / height;
  return at < 0.25 ? 'before' : at > 0.75 ? 'after' : 'into';
}

/** Handles a key. Returns whether the key has a meaning. */
type TreeKeys = (event: KeyboardEvent, rowsInSight: number) => boolean;

/** Letters typed in this time are one word. */
const wordMs = 700;

function createTreeKeys(panel: TreePanel, now: () => number = Date.now): TreeKeys {
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
