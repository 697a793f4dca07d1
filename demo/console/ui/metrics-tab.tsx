import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { type Console, historyKey, type MetricsView } from '../state/console.ts';
import type { Family, Spread } from '../state/prometheus.ts';
import { Asking, Refusal } from './refusal.tsx';

/** How often the metrics are read while they are shown. */
const everyMs = 5000;

/** What the endpoint counts, and how it has grown since the page was opened. */
export function MetricsTab({ state }: { state: Console }): JSX.Element {
  useEffect(() => {
    void state.readMetrics();
    const timer = setInterval(() => void state.readMetrics(), everyMs);
    return () => clearInterval(timer);
  }, [state]);
  const metrics = state.metrics.value;
  if (metrics.type === 'asking') return <Asking what='the metrics' />;
  if (metrics.type === 'refused') {
    return (
      <Refusal
        error={metrics.error}
        scope='admin'
        onRetry={() => void state.readMetrics()}
      />
    );
  }
  return (
    <div class='console-metrics' data-testid='console-metrics'>
      {metrics.value.families.map((family) => <Metric key={family.name} family={family} view={metrics.value} />)}
    </div>
  );
}

function Metric({ family, view }: { family: Family; view: MetricsView }): JSX.Element {
  const { name, help, type, samples, spread } = family;
  return (
    <section class='console-metric' data-testid='console-metric' data-name={name}>
      <h2>{help || name}</h2>
      <p class='console-metric-name'>
        <code>{name}</code> {type}
      </p>
      <ul>
        {samples.map(({ labels, value }, i) => {
          const values = view.history.get(historyKey(name, labels)) ?? [];
          return (
            <li key={historyKey(name, labels)}>
              <span class='console-labels'>{Object.values(labels).join(', ') || 'all'}</span>
              {type !== 'gauge' && <Chart values={values} />}
              <span class='console-value'>
                {format(value)}
                {type !== 'gauge' && <Growth values={values} />}
              </span>
              {spread?.[i] && <SpreadView spread={spread[i]} unit={name.endsWith('_seconds') ? 's' : ''} />}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Growth({ values }: { values: readonly number[] }): JSX.Element | null {
  const grown = (values.at(-1) ?? 0) - (values[0] ?? 0);
  return grown > 0 ? <span class='console-growth' title='Since this page was opened'>+{format(grown)}</span> : null;
}

function SpreadView({ spread: { mean, p95 }, unit }: { spread: Spread; unit: string }): JSX.Element {
  const most = Number.isFinite(p95) ? `95 % within ${format(p95)}${unit}` : '95 % beyond the last bucket';
  return <span class='console-spread'>mean {format(mean)}{unit}, {most}</span>;
}

const [width, height] = [96, 20];

/** The course of a counter since the page was opened; the numbers beside it say the same. */
function Chart({ values }: { values: readonly number[] }): JSX.Element {
  const [first = 0] = values;
  const range = Math.max(1, (values.at(-1) ?? 0) - first);
  const step = width / Math.max(1, values.length - 1);
  const points = values.map((value, i) =>
    `${(i * step).toFixed(1)},${(height - 1 - ((value - first) / range) * (height - 2)).toFixed(1)}`
  );
  return (
    <svg class='console-chart' viewBox={`0 0 ${width} ${height}`} width={width} height={height} aria-hidden='true'>
      <polyline points={points.join(' ')} />
    </svg>
  );
}

function format(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: value < 100 ? 3 : 12 });
}
