import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { BudgetView } from '../../../src/runtime/budgets.ts';
import { formatAmount } from '../../kit/format.ts';
import type { Console } from '../state/console.ts';

/** The budgets of the caller at the endpoint. Shows nothing where it has none. */
export function BudgetList({ state }: { state: Console }): JSX.Element | null {
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
