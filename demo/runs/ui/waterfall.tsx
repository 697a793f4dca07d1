import { useComputed, useSignalEffect } from '@preact/signals';
import type { JSX, TargetedWheelEvent } from 'preact';
import type { OpenedRun } from '../state/opened-run.ts';
import type { SpanRow } from '../state/span-rows.ts';
import { rankAfter, ranksIn, RowSpace, useRows } from '../../kit/hooks/use-rows.tsx';
import { rowId, WaterfallRow } from './waterfall-row.tsx';

/** The spans in their rows, one inside the other, over the time that is chosen. The list has the focus. */
export function Waterfall({ run }: { run: OpenedRun }): JSX.Element {
  const count = useComputed(() => run.rows.value.length);
  const rows = useRows(count);
  const at = useComputed(() => run.rows.value.findIndex(({ span }) => span.key === run.selected.value?.key));
  useSignalEffect(() => {
    if (at.value >= 0) rows.reveal(at.value);
  });
  const { from, to, pool, count: page } = rows.drawn.value;
  const isDrawn = at.value >= from && at.value < to;
  return (
    <div
      {...rows.scroller}
      class='waterfall'
      role='tree'
      tabIndex={0}
      aria-label='Spans'
      aria-activedescendant={isDrawn ? rowId(at.value) : undefined}
      data-testid='waterfall'
      onFocus={() => at.value < 0 && run.select(run.rows.value[0]?.span.key)}
      onKeyDown={(event) => {
        if (handleKey(event, run, { at: at.value, page: page - 1 })) event.preventDefault();
      }}
      onWheel={(event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        run.zoom(event.deltaY > 0 ? 1.25 : 0.8, placeOfPointer(event));
      }}
    >
      <RowSpace rows={rows}>
        {ranksIn(rows.drawn.value).map((rank) => {
          const row = run.rows.value[rank];
          return row && <WaterfallRow key={rank % pool} row={row} place={rank} run={run} />;
        })}
      </RowSpace>
    </div>
  );
}

/** Does what the key says. Returns whether it meant anything. */
function handleKey(
  event: KeyboardEvent,
  run: OpenedRun,
  { at, page }: { readonly at: number; readonly page: number },
): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const rows = run.rows.value;
  const row = rows[at];
  const next = rankAfter(event.key, { rank: at, count: rows.length, page });
  if (next !== undefined) run.select(rows[next]?.span.key);
  else if (event.shiftKey && event.key === 'ArrowRight') run.move(0.25);
  else if (event.shiftKey && event.key === 'ArrowLeft') run.move(-0.25);
  else if (event.key === 'ArrowRight' && row) goIn(run, row, rows[at + 1]);
  else if (event.key === 'ArrowLeft' && row) goOut(run, row, rows.slice(0, at));
  else if (event.key === '+' || event.key === '=') run.zoom(0.5);
  else if (event.key === '-') run.zoom(2);
  else if (event.key === '0') run.showAll();
  else if (event.key === 'Enter' && row) run.zoomTo(row.span);
  else return false;
  return true;
}

function goIn(run: OpenedRun, { span, isExpanded }: SpanRow, next: SpanRow | undefined): void {
  if (span.children.length === 0) return;
  if (isExpanded) run.select(next?.span.key);
  else run.setExpanded(span.key, true);
}

function goOut(run: OpenedRun, { span, depth, isExpanded }: SpanRow, above: readonly SpanRow[]): void {
  if (isExpanded) run.setExpanded(span.key, false);
  else if (depth > 0) run.select(above.findLast((row) => row.depth < depth)?.span.key);
}

/** The pointer's position on the time axis, 0 to 1. */
function placeOfPointer({ currentTarget, clientX }: TargetedWheelEvent<HTMLElement>): number {
  const track = currentTarget.querySelector('.span-track')?.getBoundingClientRect();
  return track ? Math.max(0, Math.min(1, (clientX - track.left) / Math.max(1, track.width))) : 0.5;
}
