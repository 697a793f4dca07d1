import type { JSX } from 'preact';
import type { Activity } from '../../control/server-control.ts';
import type { Console } from '../state/console.ts';
import type { Playground } from '../../app/state/playground.ts';
import { Asking, Refusal } from './refusal.tsx';
import { RunRows } from './run-list.tsx';
import { showRun } from '../../app/state/screens.ts';
import { Button } from '../../kit/button.tsx';

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
    <div class='run-list'>
      <Gap gap={gap} />
      {runs.length === 0 && <p class='console-empty'>No runs yet. New runs appear here.</p>}
      {runs.length > 0 && (
        <RunRows
          runs={runs}
          playground={playground}
          onOpen={({ traceId }) => showRun(playground, { traceId, via: url })}
          eventsOf={async (traceId, signal) => {
            const found = await playground.runs.runAt(url, { traceId }, { onNews: () => undefined, signal });
            return found.ok ? found.value.events : [];
          }}
          onCancel={({ runId }) => void state.cancelRun(runId)}
        />
      )}
    </div>
  );
}

/** Opens a trace in the inspector. */
export function InspectAction({ label, onClick }: { label: string; onClick: () => void }): JSX.Element {
  return (
    <Button kind='quiet' icon='waterfall' aria-label={label} onClick={onClick}>
      <span>Inspect</span>
    </Button>
  );
}

/** Says so where the list does not go back to the beginning. */
export function Gap({ gap }: { gap: Activity['gap'] }): JSX.Element | null {
  if (gap === undefined) return null;
  return (
    <p class='console-note'>
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
