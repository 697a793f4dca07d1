import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { formatCount } from '../../kit/format.ts';
import { JsonView } from '../../kit/json-view.tsx';
import type { OpenedRun } from '../state/opened-run.ts';
import { rowsOf } from '../state/span-rows.ts';
import { formatLength, formatMoment } from './moment.ts';
import { Overview } from './overview.tsx';
import { RunDetails } from './run-details.tsx';
import { SpanFacts, targetOf } from './span-facts.tsx';
import { wordOf } from './status.tsx';
import { Waterfall } from './waterfall.tsx';
import { Button, IconButton } from '../../kit/button.tsx';

interface TimelineProps {
  readonly run: OpenedRun;
  /** Shows the prompt of the span that is selected. */
  readonly onPrompt: () => void;
}

/** The run's spans over time. */
export function Timeline({ run, onPrompt }: TimelineProps): JSX.Element {
  const isTable = useSignal(false);
  const isEmpty = run.rows.value.length === 0;
  if (isEmpty) return <p class='inspector-empty' data-testid='timeline-empty'>This run has no events.</p>;
  return (
    <div class='timeline' data-selected={run.selected.value !== undefined}>
      <div class='timeline-main'>
        <Tools run={run} isTable={isTable} />
        {isTable.value ? <SpanTable run={run} /> : (
          <>
            <Overview run={run} />
            <Waterfall run={run} />
          </>
        )}
      </div>
      <SpanDetails run={run} onPrompt={onPrompt} />
    </div>
  );
}

function Tools({ run, isTable }: { readonly run: OpenedRun; readonly isTable: Signal<boolean> }): JSX.Element {
  return (
    <div class='timeline-tools' role='toolbar' aria-label='Timeline'>
      <IconButton
        icon='zoomIn'
        label='Zoom in (+)'
        testId='zoom-in'
        disabled={isTable.value}
        onClick={() => run.zoom(0.5)}
      />
      <IconButton
        icon='zoomOut'
        label='Zoom out (−)'
        testId='zoom-out'
        disabled={isTable.value}
        onClick={() => run.zoom(2)}
      />
      <IconButton
        icon='whole'
        label='Show whole run (0)'
        testId='zoom-whole'
        disabled={isTable.value || !run.isZoomed.value}
        onClick={() => run.showAll()}
      />
      <IconButton
        icon='unfold'
        label='Expand all'
        testId='open-all'
        disabled={isTable.value}
        onClick={() => run.setAll(true)}
      />
      <IconButton
        icon='fold'
        label='Collapse all'
        testId='close-all'
        disabled={isTable.value}
        onClick={() => run.setAll(false)}
      />
      <Legend />
      <IconButton
        icon='table'
        label='Show as table'
        testId='as-table'
        aria-pressed={isTable.value}
        onClick={() => (isTable.value = !isTable.value)}
      />
    </div>
  );
}

function Legend(): JSX.Element {
  return (
    <p class='timeline-legend' aria-hidden='true'>
      <span data-kind='model'>Model</span>
      <span data-kind='tool'>Tool</span>
      <span data-kind='other'>Other</span>
      <span data-status='error'>Failed</span>
    </p>
  );
}

interface SpanDetailsProps {
  readonly run: OpenedRun;
  readonly onPrompt: () => void;
}

/** Everything about the span that is selected. */
function SpanDetails({ run, onPrompt }: SpanDetailsProps): JSX.Element | null {
  const span = run.selected.value;
  if (!span) return null;
  return (
    <RunDetails
      label='Span details'
      testId='span-details'
      status={span.status}
      title={span.name}
      from='waterfall'
      onClose={() => run.select(undefined)}
    >
      <div class='button-row'>
        <Button kind='quiet' icon='zoomIn' testId='span-zoom' onClick={() => run.zoomTo(span)}>
          Zoom to span
        </Button>
        {span.kind === 'model' && (
          <Button kind='quiet' icon='eye' testId='span-prompt' onClick={onPrompt}>
            Show prompt
          </Button>
        )}
      </div>
      <SpanFacts span={span} />
      {span.events.slice(0, mostEvents).map((place) => (
        <JsonView key={place} label={`Event ${place + 1}`} value={run.record.value.events[place]} />
      ))}
      {span.events.length > mostEvents && (
        <p class='inspector-faint'>{formatCount(span.events.length - mostEvents, 'more event')} under “Events”.</p>
      )}
    </RunDetails>
  );
}

const mostEvents = 6;

/** Rows that are shown at first, and as many more each time: a table is laid out as a whole. */
const pageSize = 300;

function SpanTable({ run }: { run: OpenedRun }): JSX.Element {
  const shown = useSignal(pageSize);
  const rows = rowsOf(run.spans.value.roots, new Set());
  return (
    <div class='run-scroll' tabIndex={0} role='region' aria-label='Spans as a table'>
      <table class='span-table' data-testid='span-table'>
        <thead>
          <tr>
            <th scope='col'>Depth</th>
            <th scope='col'>Action</th>
            <th scope='col'>Target</th>
            <th scope='col'>Status</th>
            <th scope='col' class='is-number'>Start</th>
            <th scope='col' class='is-number'>Duration</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, shown.value).map(({ span, depth }) => (
            <tr key={span.key}>
              <td class='is-number'>{depth}</td>
              <th scope='row'>{span.name}</th>
              <td>{targetOf(span)}</td>
              <td>{span.error ? `${wordOf(span.status)}: ${span.error.code}` : wordOf(span.status)}</td>
              <td class='is-number'>{formatMoment(span.startMs)}</td>
              <td class='is-number'>{formatLength(span)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.value < rows.length && (
        <Button testId='table-more' onClick={() => (shown.value += pageSize)}>
          Show more ({(rows.length - shown.value).toLocaleString('en')} left)
        </Button>
      )}
    </div>
  );
}
