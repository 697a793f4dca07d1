import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { RunHead } from '../../control/runs-control.ts';
import type { Inspector } from '../state/inspector.ts';
import { agentOf, type Playground } from '../../app/state/playground.ts';
import { formatCount, formatDuration } from '../../kit/format.ts';
import { GuideLink } from '../../kit/guide-link.tsx';
import { Confirm } from '../../kit/confirm.tsx';
import { type RunState, runStates, RunStatus, stateOfRun, wordOfRun } from '../../kit/run-status.tsx';
import { runTitles } from '../state/run-title.ts';
import { showRun } from '../../app/state/screens.ts';
import { lazy } from '../../kit/lazy.tsx';
import type { EventsOf } from './try-rules.tsx';
import { Button } from '../../kit/button.tsx';
import { FileButton } from '../../kit/file-button.tsx';
import { Select } from '../../kit/choice.tsx';

const TryRules = lazy(async () => (await import('./try-rules.tsx')).TryRules);

interface RunListProps {
  readonly inspector: Inspector;
  readonly playground: Playground;
}

/** The runs that there are, the latest first, and the way to those in files. */
export function RunList({ inspector, playground }: RunListProps): JSX.Element {
  const list = inspector.list.value;
  const isOver = useSignal(false);
  const takeFile = (file: File | undefined): void => void (file && inspector.openFile(file));
  return (
    <div
      class='run-list'
      data-drop={isOver.value}
      onDragOver={(event) => {
        if (!event.dataTransfer?.types.includes('Files')) return;
        event.preventDefault();
        isOver.value = true;
      }}
      onDragLeave={() => (isOver.value = false)}
      onDrop={(event) => {
        event.preventDefault();
        isOver.value = false;
        takeFile(event.dataTransfer?.files[0]);
      }}
    >
      <div class='run-list-head'>
        <p class='inspector-faint'>
          What your agents did in this browser: every model call, tool call and use of a secret.
        </p>
        <div class='button-row'>
          <FileButton
            testId='run-open-file'
            inputTestId='run-file'
            accept='.json,application/json'
            onFiles={([file]) => takeFile(file)}
          >
            Open file
          </FileButton>
          {list && list.runs.length > 0 && <Erase inspector={inspector} />}
        </div>
      </div>
      {list?.isStored === false && (
        <p class='inspector-faint' role='status' data-testid='runs-unkept'>
          The browser provides no storage: these runs are lost when the page closes.
        </p>
      )}
      {list?.runs.length === 0 && (
        <p class='inspector-empty' data-testid='runs-empty'>
          No runs yet. Send a message to an agent, or open a saved run.{' '}
          <GuideLink page='watching'>What a run records</GuideLink>
        </p>
      )}
      {list && list.runs.length > 0 && (
        <RunRows
          runs={list.runs}
          playground={playground}
          onOpen={({ traceId }) => showRun(playground, { traceId })}
          eventsOf={inspector.eventsOf}
        />
      )}
    </div>
  );
}

/** What is listed of a run, wherever it ran. */
export type ListedRun =
  & Pick<RunHead, 'traceId' | 'agentId' | 'startedAt' | 'status' | 'end' | 'durationMs'>
  & Partial<RunHead>
  & {
    /** Who started it, at a server. */
    readonly by?: string;
    readonly error?: string | undefined;
  };

interface RunRowsProps<Run extends ListedRun> {
  /** The latest first. */
  readonly runs: readonly Run[];
  readonly playground: Playground;
  readonly onOpen: (run: Run) => void;
  readonly eventsOf: EventsOf;
  /** What can be done with a run that has not ended. */
  readonly onCancel?: (run: Run) => void;
}

/** The table of runs, of this page or of a server: searched by question and agent, and narrowed by state. */
export function RunRows<Run extends ListedRun>(
  { runs, playground, onOpen, eventsOf, onCancel }: RunRowsProps<Run>,
): JSX.Element {
  const query = useSignal('');
  const state = useSignal<RunState | ''>('');
  const isTrying = useSignal(false);
  const titleOf = runTitles(playground, runs);
  const nameOf = ({ agentId }: ListedRun): string => agentOf(playground.agents, agentId).name;
  const shown = runs.filter((run) =>
    (state.value === '' || stateOfRun(run) === state.value) &&
    isAbout(`${titleOf(run)} ${run.by ?? ''} ${nameOf(run)}`, query.value)
  );
  return (
    <>
      <div class='run-filters' role='search' aria-label='Filter runs'>
        <input
          type='search'
          data-testid='runs-search'
          aria-label='Search runs'
          placeholder='Search by question or agent'
          value={query.value}
          onInput={({ currentTarget }) => (query.value = currentTarget.value)}
        />
        <Select
          label='State'
          testId='runs-state'
          value={state.value}
          options={[['', 'All states'], ...runStates.map((each) => [each, wordOfRun(each)] as const)]}
          onChoose={(chosen) => (state.value = runStates.find((each) => each === chosen) ?? '')}
        />
        <Button testId='runs-try-rules' disabled={shown.length === 0} onClick={() => (isTrying.value = true)}>
          Try rules
        </Button>
        {isTrying.value && (
          <TryRules
            runs={shown}
            eventsOf={eventsOf}
            list={{
              titleOf: (traceId) => titleOf(runOf(shown, traceId)),
              nameOf: (agentId) => agentOf(playground.agents, agentId).name,
              onOpen: (traceId) => onOpen(runOf(shown, traceId)),
            }}
            onClose={() => (isTrying.value = false)}
          />
        )}
      </div>
      {shown.length === 0 && (
        <p class='inspector-empty' role='status' data-testid='runs-none'>
          No run fits. Change the search or the state.
        </p>
      )}
      <ul class='boxed' data-testid='run-rows'>
        {shown.map((run) => (
          <RunRow
            key={run.runId ?? run.traceId}
            run={run}
            title={titleOf(run)}
            name={nameOf(run)}
            onOpen={onOpen}
            {...(onCancel && { onCancel })}
          />
        ))}
      </ul>
    </>
  );
}

interface RunRowProps<Run extends ListedRun> extends Pick<RunRowsProps<Run>, 'onOpen' | 'onCancel'> {
  readonly run: Run;
  readonly title: string;
  /** The agent's. */
  readonly name: string;
}

function RunRow<Run extends ListedRun>({ run, title, name, onOpen, onCancel }: RunRowProps<Run>): JSX.Element {
  return (
    <li class='run-line'>
      <button
        type='button'
        class='run-row'
        data-testid='run-row'
        data-trace={run.traceId}
        data-run-state={stateOfRun(run)}
        onClick={() => onOpen(run)}
      >
        <span class='run-row-name' dir='auto'>{title}</span>
        <RunStatus state={stateOfRun(run)} />
        <span class='run-row-facts'>
          {[name, ...factsOf(run)].join(' · ')}
        </span>
        <time
          class='run-row-time'
          dateTime={new Date(run.startedAt).toISOString()}
          title={timeOf(run.startedAt)}
        >
          {agoOf(run.startedAt)}
        </time>
      </button>
      {onCancel && stateOfRun(run) === 'running' && (
        <Button
          kind='quiet'
          icon='stop'
          testId='run-cancel'
          aria-label={`Cancel the run of ${name}`}
          onClick={() => onCancel(run)}
        >
          <span>Cancel</span>
        </Button>
      )}
    </li>
  );
}

function runOf<Run extends ListedRun>(runs: readonly Run[], traceId: string): Run {
  return runs.find((run) => run.traceId === traceId)!; // its calls were tried
}

function factsOf(run: ListedRun): string[] {
  const { durationMs, modelCalls = 0, toolCalls = 0, tokens = 0, failures = 0, by, error } = run;
  return [
    ...(by === undefined ? [] : [`started by ${by}`]),
    ...(error === undefined ? [] : [error]),
    ...(durationMs === undefined ? [] : [formatDuration(durationMs)]),
    ...(modelCalls > 0 ? [formatCount(modelCalls, 'model call')] : []),
    ...(toolCalls > 0 ? [formatCount(toolCalls, 'tool call')] : []),
    ...(tokens > 0 ? [formatCount(tokens, 'token')] : []),
    ...(failures > 0 ? [formatCount(failures, 'failure')] : []),
  ];
}

/** Whether every word of the query is in the text. */
function isAbout(text: string, query: string): boolean {
  return query.toLowerCase().split(/\s+/).every((word) => text.toLowerCase().includes(word));
}

const steps = [['day', 86_400_000], ['hour', 3_600_000], ['minute', 60_000]] as const;
const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** How long ago; a time of more than a week ago is a date. */
function agoOf(at: number): string {
  const ms = Date.now() - at;
  if (ms > 7 * 86_400_000) return new Date(at).toLocaleDateString('en', { dateStyle: 'medium' });
  const step = steps.find(([, size]) => ms >= size);
  return step ? words.format(-Math.floor(ms / step[1]), step[0]) : 'just now';
}

function timeOf(at: number): string {
  return new Date(at).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'medium' });
}

/** Asks for confirmation in place of the button. */
function Erase({ inspector }: { inspector: Inspector }): JSX.Element {
  const isAsking = useSignal(false);
  if (!isAsking.value) {
    return (
      <Button icon='trash' testId='runs-erase' onClick={() => (isAsking.value = true)}>
        Erase all…
      </Button>
    );
  }
  return (
    <Confirm
      label='Erase all runs'
      testId='runs-erase-sure'
      onConfirm={() => {
        isAsking.value = false;
        void inspector.erase();
      }}
      onCancel={() => (isAsking.value = false)}
    />
  );
}
