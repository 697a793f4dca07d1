import { type Signal, useComputed, useSignal, useSignalEffect } from '@preact/signals';
import type { JSX, RefObject } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { TreePanel } from '../state/tree-panel.ts';
import type { PanelRow } from '../worker/control.ts';
import { drop, type DropPlace, rename, setName, toggleDone } from './edits.ts';
import { createTreeKeys } from './keys.ts';
import { type RowActions, rowId, TreeRow } from './tree-row.tsx';
import { placeOf, placeToSee, scrollHeightOf, scrollTopOf, type Viewport } from '../../kit/hooks/virtual.ts';
import { watchHeight } from '../../kit/hooks/watch-height.ts';

/** Rows drawn beyond what is in sight, on either side. */
const overscan = 6;

/** The rows in sight of however many there are. The list has the focus; it says which row is active. */
export function TreeList({ panel, nameOf }: { panel: TreePanel; nameOf: (by: string) => string }): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const scrollTop = useSignal(0);
  const height = useSignal(0);
  const dropping = useSignal<Dropping | undefined>(undefined);
  const dragged = useRef<string | undefined>(undefined);
  const rowHeight = useMemo(rowHeightHere, []);
  const keys = useMemo(() => createTreeKeys(panel), [panel]);
  const viewport = useComputed((): Viewport => ({
    rowCount: panel.status.value?.rowCount ?? 0,
    rowHeight,
    height: height.value,
  }));
  const sight = useComputed(() => ({
    first: Math.floor(placeOf(viewport.value, scrollTop.value) / rowHeight),
    count: Math.ceil(height.value / rowHeight) + 1,
  }));

  useLayoutEffect(() => watchHeight(scroller.current, (now) => (height.value = now)), []);
  useSignalEffect(() => panel.look(sight.value));
  useSignalEffect(() => {
    const wanted = panel.scroll.value;
    const element = scroller.current;
    if (!wanted || !element) return;
    const now = viewport.peek();
    const place = placeOf(now, element.scrollTop);
    const next = wanted.by === undefined ? placeToSee(now, wanted.rank, place) : place + wanted.by * rowHeight;
    if (next !== place) element.scrollTop = scrollTopOf(now, next);
  });
  useFocusAfterWriting(panel, scroller);
  const actions = useMemo(() => rowActions(panel, { dragged, dropping }), [panel]);

  const { first, count } = sight.value;
  const pool = count + 2 * overscan; // far scrolled, the same elements show other rows: making them anew would take longer
  const from = Math.max(0, first - overscan);
  const to = Math.min(viewport.value.rowCount, first + count + overscan);
  const active = panel.active.value;
  const isActiveDrawn = active !== undefined && active.rank >= from && active.rank < to;
  const top = scrollTop.value + from * rowHeight - placeOf(viewport.value, scrollTop.value);
  return (
    <div
      ref={scroller}
      class='tree-list'
      role='tree'
      tabIndex={0}
      aria-label='The yard'
      aria-activedescendant={isActiveDrawn ? rowId(active.rank) : undefined}
      data-testid='tree-list'
      style={{ '--row-height': `${rowHeight}px` }}
      onScroll={({ currentTarget }) => (scrollTop.value = currentTarget.scrollTop)}
      onFocus={() => active === undefined && void panel.goTo(first)}
      onKeyDown={(event) => {
        if (keys(event, count - 1)) event.preventDefault();
      }}
      onDragEnd={() => (dropping.value = dragged.current = undefined)}
    >
      <div class='tree-space' role='presentation' style={{ height: `${scrollHeightOf(viewport.value)}px` }}>
        <div class='tree-rows' role='presentation' style={{ transform: `translateY(${top}px)` }}>
          {ranksIn(from, to).map((rank) => (
            <Slot
              key={rank % pool}
              rank={rank}
              panel={panel}
              nameOf={nameOf}
              actions={actions}
              dropping={dropping.value}
            />
          ))}
        </div>
      </div>
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

function ranksIn(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
}

/** Fingers want more room. */
function rowHeightHere(): number {
  return matchMedia('(pointer: coarse)').matches ? 40 : 30;
}

/** The upper quarter of a row is the place before it, the lower one the place after it. */
function placeIn({ currentTarget, clientY }: DragEvent): DropPlace {
  if (!(currentTarget instanceof Element)) return 'into';
  const { top, height } = currentTarget.getBoundingClientRect();
  const at = (clientY - top) / height;
  return at < 0.25 ? 'before' : at > 0.75 ? 'after' : 'into';
}
