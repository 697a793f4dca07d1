import type { JSX } from 'preact';
import type { Activity, SeenRun } from '../worker/control.ts';
import type { Console } from '../state/console.ts';
import type { Playground } from '../../app/state/playground.ts';
import { formatDuration } from '../../kit/format.ts';
import { Icon } from '../../kit/icon.tsx';
import { Asking, Refusal } from './refusal.tsx';
import { StateWord } from './state-word.tsx';
import { showRun } from '../../app/state/screens.ts';

/** What a part of the console needs. */
export interface TabProps {
  readonly state: Console;
  readonly url: string;
  readonly playground: Playground;
}

/** The endpoint's runs, as they start and end. */
export function RunsTab({ state, url, playground }: TabProps): JSX.Element {
  const activity = state.activity.value;
  if (activity.type === 'asking') return <Asking what='the runs' />;
  if (activity.type === 'refused') return <Refusal error={activity.error} scope='admin' onRetry={state.watch} />;
  const { runs, gap } = activity.value;
  return (
    <>
      <Gap gap={gap} />
      {runs.length === 0 && <p class='console-empty'>No runs yet. New runs appear here.</p>}
      {runs.length > 0 && (
        <div class='console-scroll'>
          <table class='console-table' data-testid='console-runs'>
            <thead>
              <tr>
                <th scope='col'>Agent</th>
                <th scope='col'>State</th>
                <th scope='col'>Started</th>
                <th scope='col'>Duration</th>
                <th scope='col'>Started by</th>
                <th scope='col'>
                  <span class='visually-hidden'>Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {runs.map((run) => <Row key={run.runId} run={run} state={state} url={url} playground={playground} />)}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

function Row({ run, state, url, playground }: TabProps & { run: SeenRun }): JSX.Element {
  const { agentId, by, startedAt, durationMs, error, traceId, runId } = run;
  return (
    <tr data-testid='console-run' data-state={run.state}>
      <th scope='row'>{agentId}</th>
      <td>
        <StateWord state={run.state} />
        {error !== undefined && <code class='code-chip'>{error}</code>}
      </td>
      <td>{timeOf(startedAt)}</td>
      <td>{durationMs === undefined ? '' : formatDuration(durationMs)}</td>
      <td>{by}</td>
      <td class='console-actions'>
        <InspectAction
          label={`Inspect the run of ${agentId}`}
          onClick={() => showRun(playground, { traceId, via: url })}
        />
        {run.state === 'running' && (
          <button
            type='button'
            class='quiet-button'
            data-testid='console-cancel'
            aria-label={`Cancel the run of ${agentId}`}
            onClick={() => void state.cancelRun(runId)}
          >
            <Icon name='stop' />
            <span>Cancel</span>
          </button>
        )}
      </td>
    </tr>
  );
}

/** Opens a trace in the inspector. */
export function InspectAction({ label, onClick }: { label: string; onClick: () => void }): JSX.Element {
  return (
    <button type='button' class='quiet-button' data-testid='console-inspect' aria-label={label} onClick={onClick}>
      <Icon name='waterfall' />
      <span>Inspect</span>
    </button>
  );
}

/** Says so where the list does not go back to the beginning. */
export function Gap({ gap }: { gap: Activity['gap'] }): JSX.Element | null {
  if (gap === undefined) return null;
  return (
    <p class='console-note' data-testid='console-gap'>
      {gap === 'dropped'
        ? 'This list is incomplete: the endpoint has deleted older events.'
        : 'This list shows only the latest.'}
    </p>
  );
}

/** A time of the day, with its date where that is another one. */
export function timeOf(iso: string): string {
  const at = new Date(iso);
  const isToday = at.toDateString() === new Date().toDateString();
  return isToday ? at.toLocaleTimeString('en') : at.toLocaleString('en', { dateStyle: 'medium', timeStyle: 'medium' });
}
