import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { formatAmount } from '../../kit/format.ts';
import type { Chart, Line } from '../state/charts.ts';

const [width, height, margin] = [320, 96, 4];

/** Lines over time. The numbers are shown for the point that the person points at, and in a table. */
export function ChartView({ chart }: { chart: Chart }): JSX.Element {
  const { id, title, unit, times, lines } = chart;
  const pointed = useSignal<number | undefined>(undefined);
  const at = Math.min(pointed.value ?? Infinity, times.length - 1);
  const top = Math.max(0, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0)));
  return (
    <figure class='console-chart' data-testid='console-chart' data-chart={id}>
      <figcaption>
        <h2>{title}</h2> <span>{unit}</span>
      </figcaption>
      {times.length === 0
        ? <p class='console-note'>Collecting data. The chart starts with the next reading, in about five seconds.</p>
        : (
          <>
            <ul class='console-legend' aria-hidden='true'>
              {lines.map(({ label, values }, i) => (
                <li key={label} data-line={i}>
                  {label} <strong data-testid='console-chart-value'>{amountOf(values[at])}</strong>
                </li>
              ))}
              <li class='console-chart-time'>{clock(times[at] ?? 0)}</li>
            </ul>
            <Plot chart={chart} top={top} at={pointed.value} onPoint={(next) => (pointed.value = next)} />
            <Numbers chart={chart} />
          </>
        )}
    </figure>
  );
}

interface PlotProps {
  readonly chart: Chart;
  /** The highest value. */
  readonly top: number;
  readonly at: number | undefined;
  readonly onPoint: (at: number | undefined) => void;
}

function Plot({ chart: { title, times, lines }, top, at, onPoint }: PlotProps): JSX.Element {
  const last = Math.max(1, times.length - 1);
  const x = (i: number): number => times.length === 1 ? width / 2 : (i / last) * width;
  const y = (value: number): number => height - margin - (value / (top || 1)) * (height - 2 * margin);
  const step = (by: number): void => onPoint(Math.max(0, Math.min(times.length - 1, (at ?? times.length - 1) + by)));
  return (
    <div class='console-plot'>
      <span class='console-top' aria-hidden='true'>{top > 0 && amountOf(top)}</span>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio='none'
        role='img'
        tabIndex={0}
        data-testid='console-plot'
        aria-label={`${title} over time: ${lines.map(summaryOf).join('; ')}. Use the arrow keys to move through time`}
        onPointerMove={({ currentTarget, clientX }) => {
          const { left, width: wide } = currentTarget.getBoundingClientRect();
          onPoint(Math.max(0, Math.min(last, Math.round(((clientX - left) / Math.max(1, wide)) * last))));
        }}
        onPointerLeave={() => onPoint(undefined)}
        onBlur={() => onPoint(undefined)}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
          event.preventDefault();
          step(event.key === 'ArrowLeft' ? -1 : 1);
        }}
      >
        <line class='console-ground' x1={0} x2={width} y1={height - margin} y2={height - margin} />
        {at !== undefined && <line class='console-pointer' x1={x(at)} x2={x(at)} y1={0} y2={height} />}
        {lines.map(({ label, values }, i) => <path key={label} data-line={i} d={pathOf(values, x, y)} />)}
      </svg>
    </div>
  );
}

/** The values as a path with a gap where nothing was measured. A single value is a short stroke. */
function pathOf(values: Line['values'], x: (i: number) => number, y: (value: number) => number): string {
  let path = '';
  values.forEach((value, i) => {
    if (value === undefined) return;
    const isAlone = values[i - 1] === undefined;
    path += `${isAlone ? 'M' : 'L'}${x(i).toFixed(1)},${y(value).toFixed(1)}`;
    if (isAlone && values[i + 1] === undefined) path += 'h2';
  });
  return path;
}

function Numbers({ chart: { title, unit, times, lines } }: { chart: Chart }): JSX.Element {
  const isOpen = useSignal(false);
  return (
    <details onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
      <summary class='quiet-button'>Show as table</summary>
      {isOpen.value && (
        <div class='console-scroll'>
          <table class='console-table'>
            <caption class='visually-hidden'>{title}, {unit}</caption>
            <thead>
              <tr>
                <th scope='col'>Time</th>
                {lines.map(({ label }) => <th key={label} scope='col'>{label}</th>)}
              </tr>
            </thead>
            <tbody>
              {times.map((time, i) => (
                <tr key={time}>
                  <th scope='row'>{clock(time)}</th>
                  {lines.map(({ label, values }) => <td key={label}>{amountOf(values[i])}</td>)}
                </tr>
              )).toReversed()}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}

function summaryOf({ label, values }: Line): string {
  return `${label}, latest ${amountOf(values.at(-1))}`;
}

function amountOf(value: number | undefined): string {
  return value === undefined ? '–' : formatAmount(value < 100 ? value : Math.round(value));
}

function clock(time: number): string {
  return new Date(time).toLocaleTimeString('en');
}
