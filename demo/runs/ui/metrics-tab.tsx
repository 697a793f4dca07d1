import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { type Console, historyKey, type MetricsView } from '../state/console.ts';
import type { Family, Spread } from '../state/prometheus.ts';
import { formatAmount } from '../../kit/format.ts';
import { chartsOf } from '../state/charts.ts';
import { BudgetList } from './budget-list.tsx';
import { ChartView } from './chart-view.tsx';
import { Asking, Refusal } from './refusal.tsx';

/** The budgets of the caller, charts over time, and all metrics with their growth since the console was opened. */
export function MetricsTab({ state }: { state: Console }): JSX.Element {
  return (
    <>
      <BudgetList state={state} />
      <Metrics state={state} />
    </>
  );
}

function Metrics({ state }: { state: Console }): JSX.Element {
  useEffect(() => void state.readMetrics(), [state]);
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
    <>
      <p class='console-note'>Charts show the time since you opened the console, up to one hour.</p>
      <div class='console-metrics'>
        {chartsOf(metrics.value.totals).map((chart) => <ChartView key={chart.id} chart={chart} />)}
      </div>
      <details class='console-all' data-testid='console-all'>
        <summary class='quiet-button'>All metrics</summary>
        <div class='console-metrics' data-testid='console-metrics'>
          {metrics.value.families.map((family) => <Metric key={family.name} family={family} view={metrics.value} />)}
        </div>
      </details>
    </>
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
              <span class='console-value'>
                {formatAmount(value)}
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
  return grown > 0
    ? <span class='console-growth' title='Since this page was opened'>+{formatAmount(grown)}</span>
    : null;
}

function SpreadView({ spread: { mean, p95 }, unit }: { spread: Spread; unit: string }): JSX.Element {
  const most = Number.isFinite(p95)
    ? `95% within ${formatAmount(p95)}${unit}`
    : '95th percentile above the largest bucket';
  return <span class='console-spread'>mean {formatAmount(mean)}{unit}, {most}</span>;
}
