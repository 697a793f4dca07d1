import type { JSX } from 'preact';
import type { PlanView } from '../../../src/planner/view/plan-view.ts';
import type { Console } from '../state/console.ts';
import { formatCount } from '../../kit/format.ts';
import { Asking, Refusal } from './refusal.tsx';
import { Gap, InspectAction, type TabProps, timeOf } from './runs-tab.tsx';

/** The endpoint's plans; one can be opened, with its agents, and steered. */
export function PlansTab({ state, url, playground }: TabProps): JSX.Element {
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
  const activity = state.activity.value;
  if (activity.type === 'asking') return <Asking what='the plans' />;
  if (activity.type === 'refused') return <Refusal error={activity.error} scope='admin' onRetry={state.watch} />;
  const { plans, gap } = activity.value;
  return (
    <>
      <Gap gap={gap} />
      {plans.length === 0 && <p class='console-empty'>No plans yet. New plans appear here.</p>}
      <ul class='console-list'>
        {plans.map(({ planId, state: stands, by, startedAt }) => (
          <li key={planId}>
            <button
              type='button'
              class='console-item'
              data-testid='console-plan'
              onClick={() => void state.openPlan(planId)}
            >
              <code>{planId}</code>
              <span class='state-word' data-state={stands}>{stands}</span>
              <span>by {by}, {timeOf(startedAt)}</span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

function Plan({ plan, state, url, playground: { inspector } }: TabProps & { plan: PlanView }): JSX.Element {
  const isOver = ['done', 'failed', 'cancelled'].includes(plan.state);
  return (
    <section class='console-plan' data-testid='console-plan-view' data-state={plan.state}>
      <h2>{plan.goal}</h2>
      <p>
        <span class='state-word' data-state={plan.state}>{plan.paused && !isOver ? 'paused' : plan.state}</span>{' '}
        {formatCount(plan.tasks.length + plan.omitted, 'agent')}, {formatCount(plan.used.tokens, 'token')}
        {plan.questions.length > 0 && `, ${formatCount(plan.questions.length, 'open question')}`}
      </p>
      <div class='button-row'>
        {!isOver && <Steering plan={plan} state={state} />}
        <InspectAction
          label='Inspect the plan'
          onClick={() => (inspector.shown.value = { traceId: plan.traceId, planId: plan.planId, via: url })}
        />
      </div>
      <ul class='console-list' aria-label='Agents of the plan'>
        {plan.tasks.map(({ address, goal, agentId, status, error }) => (
          <li key={address} class='console-item'>
            <code>{address}</code>
            <span class='state-word' data-state={status}>{status}</span>
            <span>{agentId !== undefined && <strong>{agentId}:</strong>} {goal}</span>
            {error && <code class='code-chip'>{error.code}</code>}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Steering({ plan, state }: { plan: PlanView; state: Console }): JSX.Element {
  return (
    <>
      <button
        type='button'
        class='button'
        data-testid='console-pause'
        onClick={() => void state.steerPlan(plan.paused ? 'resume' : 'pause')}
      >
        {plan.paused ? 'Go on' : 'Pause'}
      </button>
      <button
        type='button'
        class='button'
        data-testid='console-cancel-plan'
        onClick={() => void state.steerPlan('cancel')}
      >
        Cancel the plan
      </button>
    </>
  );
}
