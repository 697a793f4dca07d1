import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { BudgetView } from '../../../src/runtime/budgets.ts';
import { formatAmount } from '../../kit/format.ts';
import { chartsOf } from '../state/charts.ts';
import { type Console, historyKey, type MetricsView } from '../state/console.ts';
import type { Family, Spread } from '../state/prometheus.ts';
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

/** The budgets of the caller at the endpoint. Shows nothing where it has none. */
function BudgetList({ state }: { state: Console }): JSX.Element | null {
  useEffect(() => void state.readBudgets(), [state]);
  const budgets = state.budgets.value;
  if (budgets.type !== 'there' || budgets.value.length === 0) return null;
  return (
    <section class='console-budgets' data-testid='console-budgets'>
      <h2>Budgets</h2>
      <ul>
        {budgets.value.map((budget) => <Budget key={`${budget.id} ${budget.agentId ?? ''}`} budget={budget} />)}
      </ul>
    </section>
  );
}

function Budget(
  { budget: { id, of, agentId, every, resetsAt, share, limit, used } }: { budget: BudgetView },
): JSX.Element {
  const owner = { tenant: 'your team', subject: 'you', agent: agentId ?? 'the agent' }[of];
  const starts = new Date(resetsAt).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  const label = `${id}, for ${owner}, each ${every}`;
  return (
    <li>
      <span>{label}</span>
      <meter min={0} max={1} low={0.8} high={0.95} optimum={0} value={share} aria-label={label}>
        {Math.round(share * 100)}%
      </meter>
      <span>{Math.round(share * 100)}% used{limit && `: ${amounts(used, limit)}`}. Starts again at {starts}.</span>
    </li>
  );
}

function amounts(used: BudgetView['used'], { tokens, cost, runs, bytes }: NonNullable<BudgetView['limit']>): string {
  const of = (now: number | undefined, most: number | undefined, unit: string): readonly string[] =>
    most === undefined ? [] : [`${formatAmount(now ?? 0)} of ${formatAmount(most)} ${unit}`];
  return [
    ...of(used?.tokens, tokens, 'tokens'),
    ...of(used?.cost?.amount, cost?.amount, cost?.currency ?? ''),
    ...of(used?.runs, runs, 'runs'),
    ...of(used?.bytes, bytes, 'bytes'),
  ].join(', ');
}
