import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { PlanView } from '../../../src/planner/planner.ts';
import type { Console } from '../state/console.ts';
import type { SeenPlan } from '../../control/server-control.ts';
import { Fact } from '../../chat/ui/fact.tsx';
import { formatCount } from '../../kit/format.ts';
import { Asking, Refusal } from './refusal.tsx';
import { Gap, InspectAction, type TabProps, timeOf } from './runs-tab.tsx';
import { isOver } from '../state/plan-views.ts';
import { RunStatus } from '../../kit/run-status.tsx';
import { showRun, showRuns } from '../../app/state/screens.ts';
import { Button } from '../../kit/button.tsx';

/** The endpoint's plans; one can be opened, with its agents, and steered. */
export function PlansTab({ state, url, playground }: TabProps): JSX.Element {
  const activity = state.activity.value;
  useEffect(() => void state.readPlans(), [activity]);
  const plan = state.plan.value;
  if (plan?.type === 'asking') return <Asking what='the plan' />;
  if (plan?.type === 'refused') {
    return (
      <Refusal
        error={plan.error}
        scope='run:read'
        onRetry={() => void state.readPlan()}
      />
    );
  }
  if (plan) return <Plan plan={plan.value} state={state} url={url} playground={playground} />;
  if (activity.type === 'asking') return <Asking what='the plans' />;
  if (activity.type === 'refused') return <Refusal error={activity.error} scope='admin' onRetry={state.watch} />;
  const { plans, gap } = activity.value;
  return (
    <>
      <Gap gap={gap} />
      {plans.length === 0 && <p class='console-empty'>No plans yet. New plans appear here.</p>}
      <ul class='console-list'>
        {plans.map((listed) => <Row key={listed.planId} listed={listed} state={state} playground={playground} />)}
      </ul>
    </>
  );
}

/** A plan in the list: its goal and state where the endpoint shows them, else what its events say. */
function Row({ listed, state, playground }: Omit<TabProps, 'url'> & { listed: SeenPlan }): JSX.Element {
  const { planId, by, startedAt } = listed;
  const view = state.views.value.get(planId);
  return (
    <li>
      <button
        type='button'
        class='console-item'
        data-testid='console-plan'
        data-id={planId}
        onClick={() => showRuns(playground, { where: 'server', section: 'plans', planId })}
      >
        <strong>{view?.goal ?? `Plan of ${by}`}</strong>
        <RunStatus state={view ? stateOf(view) : listed.state} />
        <span>Started by {by}, {timeOf(startedAt)}</span>
      </button>
    </li>
  );
}

/** `paused` where a person has paused it. */
function stateOf(plan: PlanView): string {
  return plan.paused && !isOver(plan) ? 'paused' : plan.state;
}

function Plan({ plan, state, url, playground }: TabProps & { plan: PlanView }): JSX.Element {
  return (
    <section class='console-plan' data-testid='console-plan-view' data-state={plan.state}>
      <h2>{plan.goal}</h2>
      <p>
        <RunStatus state={stateOf(plan)} /> {formatCount(plan.tasks.length + plan.omitted, 'agent')},{' '}
        {formatCount(plan.used.tokens, 'token')}
        {plan.questions.length > 0 && `, ${formatCount(plan.questions.length, 'open question')}`}
      </p>
      <div class='button-row'>
        {!isOver(plan) && <Steering plan={plan} state={state} />}
        <InspectAction
          label='Inspect plan'
          onClick={() => showRun(playground, { traceId: plan.traceId, planId: plan.planId, via: url })}
        />
      </div>
      <ul class='console-list' aria-label='Agents of the plan'>
        {plan.tasks.map(({ address, goal, agentId, status, error }) => (
          <li key={address} class='console-item'>
            <code>{address}</code>
            <RunStatus state={status === 'waiting' ? 'not started' : status} />
            <span>{agentId !== undefined && <strong>{agentId}:</strong>} {goal}</span>
            {error && <code class='code-chip'>{error.code}</code>}
          </li>
        ))}
      </ul>
      <details>
        <summary class='quiet-button'>Ids</summary>
        <dl class='facts'>
          <Fact name='Plan' value={plan.planId} />
          <Fact name='Trace' value={plan.traceId} />
        </dl>
      </details>
    </section>
  );
}

function Steering({ plan, state }: { plan: PlanView; state: Console }): JSX.Element {
  return (
    <>
      <Button testId='console-pause' onClick={() => void state.steerPlan(plan.paused ? 'resume' : 'pause')}>
        {plan.paused ? 'Resume' : 'Pause'}
      </Button>
      <Button testId='console-cancel-plan' onClick={() => void state.steerPlan('cancel')}>
        Cancel plan
      </Button>
    </>
  );
}
