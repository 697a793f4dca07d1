import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { OpenedRun } from '../state/opened-run.ts';
import { rowsOf } from '../state/span-rows.ts';
import { formatLength, formatMoment } from './moment.ts';
import { targetOf } from './span-facts.tsx';
import { wordOf } from './status.tsx';

/** Rows that are shown at first, and as many more each time: a table is laid out as a whole. */
const pageSize = 300;

export function SpanTable({ run }: { run: OpenedRun }): JSX.Element {
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
        <button type='button' class='button' data-testid='table-more' onClick={() => (shown.value += pageSize)}>
          Show more ({(rows.length - shown.value).toLocaleString('en')} left)
        </button>
      )}
    </div>
  );
}
