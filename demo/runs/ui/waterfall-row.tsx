import type { JSX } from 'preact';
import type { OpenedRun } from '../state/opened-run.ts';
import type { RunSpan } from '../state/run-spans.ts';
import type { SpanRow } from '../state/span-rows.ts';
import { placeIn, type TimeWindow } from '../state/time-window.ts';
import { Icon } from '../../kit/icon.tsx';
import { formatLength, formatMoment } from './moment.ts';
import { targetOf } from './span-facts.tsx';
import { Status } from './status.tsx';

interface WaterfallRowProps {
  readonly row: SpanRow;
  readonly place: number;
  readonly run: OpenedRun;
}

/** The deepest indentation; deeper rows share it. */
const deepest = 12;

export function rowId(place: number): string {
  return `span-row-${place}`;
}

/** A span: its state, name and bar on the time axis. */
export function WaterfallRow({ row, place, run }: WaterfallRowProps): JSX.Element {
  const { span, depth, isExpanded, position, siblings } = row;
  const hasChildren = span.children.length > 0;
  return (
    <div
      id={rowId(place)}
      class='span-row'
      role='treeitem'
      aria-level={depth + 1}
      aria-posinset={position}
      aria-setsize={siblings}
      aria-expanded={hasChildren ? isExpanded : undefined}
      aria-selected={run.selected.value?.key === span.key}
      data-testid='span-row'
      data-name={span.name}
      data-status={span.status}
      onClick={() => run.select(span.key)}
      onDblClick={() => run.zoomTo(span)}
    >
      <span class='span-name' style={{ '--depth': Math.min(depth, deepest) }}>
        <span
          class='span-toggle'
          data-testid='span-toggle'
          onClick={(event) => {
            if (!hasChildren) return;
            event.stopPropagation();
            run.setExpanded(span.key, !isExpanded);
          }}
        >
          {hasChildren && <Icon name='chevron' />}
        </span>
        <Status status={span.status} /> <span class='span-action'>{span.name}</span>{' '}
        <span class='span-target'>{targetOf(span)}</span>
      </span>
      <Track span={span} window={run.window.value} />{' '}
      <span class='span-time'>
        {formatLength(span)}
        <span class='visually-hidden'>, starts at {formatMoment(span.startMs)}</span>
      </span>
    </div>
  );
}

/** The bar, as far as it is in the window; what is too short to see is a stroke. */
function Track({ span, window }: { span: RunSpan; window: TimeWindow }): JSX.Element {
  const from = placeIn(window, span.startMs);
  const to = placeIn(window, span.endMs);
  if (to < 0 || from > 1) {
    return <span class='span-track' data-out={to < 0 ? 'before' : 'after'} aria-hidden='true' />;
  }
  const left = Math.max(0, from);
  const width = Math.min(1, to) - left;
  return (
    <span class='span-track' aria-hidden='true'>
      <i
        class='span-bar'
        data-kind={span.kind}
        data-outer={span.children.length > 0 && span.kind !== 'tool'}
        data-status={span.status}
        style={{ left: `${(left * 100).toFixed(3)}%`, width: `${(width * 100).toFixed(3)}%` }}
      />
    </span>
  );
}
