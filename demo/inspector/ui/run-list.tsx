import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import type { RunHead } from '../worker/control.ts';
import type { Inspector } from '../state/inspector.ts';
import { agentOf, type Playground } from '../../app/state/playground.ts';
import { formatCount, formatDuration } from '../../kit/format.ts';
import { GuideLink } from '../../kit/guide-link.tsx';
import { Icon } from '../../kit/icon.tsx';
import { type RunState, runStates, stateOfRun } from '../state/run-state.ts';
import { RunStatus, wordOfRun } from './status.tsx';
import { showRun } from '../../app/state/screens.ts';

interface RunListProps {
  readonly inspector: Inspector;
  readonly playground: Playground;
}

/** The runs that there are, the latest first, and the way to those in files. */
export function RunList({ inspector, playground }: RunListProps): JSX.Element {
  const list = inspector.list.value;
  const titles = titlesOf(playground);
  const query = useSignal('');
  const state = useSignal<RunState | ''>('');
  const shown = list?.runs.filter((head) =>
    (state.value === '' || stateOfRun(head) === state.value) && isAbout(head, query.value, playground)
  );
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
          <OpenFile onFile={takeFile} />
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
        <div class='run-filters' role='search' aria-label='Filter runs'>
          <input
            type='search'
            data-testid='runs-search'
            aria-label='Search runs'
            placeholder='Search by question or agent'
            value={query.value}
            onInput={({ currentTarget }) => (query.value = currentTarget.value)}
          />
          <select
            data-testid='runs-state'
            aria-label='State'
            value={state.value}
            onChange={({ currentTarget }) => {
              state.value = runStates.find((each) => each === currentTarget.value) ?? '';
            }}
          >
            <option value=''>All states</option>
            {runStates.map((each) => <option key={each} value={each}>{wordOfRun(each)}</option>)}
          </select>
        </div>
      )}
      {list && list.runs.length > 0 && shown?.length === 0 && (
        <p class='inspector-empty' role='status' data-testid='runs-none'>
          No run fits. Change the search or the state.
        </p>
      )}
      <ul class='boxed' data-testid='run-rows' aria-busy={!list}>
        {shown?.map((head) => (
          <li key={head.traceId}>
            <Run
              head={head}
              name={agentOf(playground.agents, head.agentId).name}
              title={titleOf(head, { heads: list?.runs ?? [], titles })}
              onOpen={() => showRun(playground, { traceId: head.traceId })}
            />
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Which chats the runs were in, as far as chats have been read: an answer knows its latest run. */
function titlesOf({ chats }: Playground): ReadonlyMap<string, string> {
  return new Map(
    chats.list.value.flatMap(({ title, messages }) =>
      messages.value.flatMap((message): [string, string][] => {
        const traceId = message.role === 'assistant' ? message.facts.value.run?.traceId : undefined;
        return traceId === undefined ? [] : [[traceId, title.value]];
      })
    ),
  );
}

/** The chat of a run where that is known; a fork is called after the run that it forks. */
function titleOf(
  { traceId, forkOf, question }: RunHead,
  known: { readonly heads: readonly RunHead[]; readonly titles: ReadonlyMap<string, string> },
): string | undefined {
  if (forkOf === undefined) return question ?? known.titles.get(traceId);
  const parent = known.heads.find(({ runId }) => runId === forkOf);
  const title = parent && (parent.question ?? known.titles.get(parent.traceId));
  return title === undefined ? 'Fork of another run' : `Fork of “${title}”`;
}

interface RunProps {
  readonly head: RunHead;
  readonly name: string;
  /** The chat that it was in, or what it is a fork of, where that is known. */
  readonly title: string | undefined;
  readonly onOpen: () => void;
}

function Run({ head, name, title, onOpen }: RunProps): JSX.Element {
  return (
    <button type='button' class='run-row' data-testid='run-row' data-trace={head.traceId} onClick={onOpen}>
      <span class='run-row-name' dir='auto'>{title ?? name}</span>
      <RunStatus head={head} />
      <span class='run-row-facts'>{[...(title === undefined ? [] : [name]), ...factsOf(head)].join(' · ')}</span>
      <time class='run-row-time' dateTime={new Date(head.startedAt).toISOString()} title={timeOf(head.startedAt)}>
        {agoOf(head.startedAt)}
      </time>
    </button>
  );
}

function factsOf({ durationMs, modelCalls, toolCalls, tokens, failures }: RunHead): string[] {
  return [
    ...(durationMs === undefined ? [] : [formatDuration(durationMs)]),
    ...(modelCalls > 0 ? [formatCount(modelCalls, 'model call')] : []),
    ...(toolCalls > 0 ? [formatCount(toolCalls, 'tool call')] : []),
    ...(tokens > 0 ? [formatCount(tokens, 'token')] : []),
    ...(failures > 0 ? [formatCount(failures, 'failure')] : []),
  ];
}

/** Whether every word is in the question or in the agent's name. */
function isAbout({ question = '', agentId }: RunHead, query: string, { agents }: Playground): boolean {
  const text = `${question} ${agentOf(agents, agentId).name}`.toLowerCase();
  return query.toLowerCase().split(/\s+/).every((word) => text.includes(word));
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

function OpenFile({ onFile }: { onFile: (file: File | undefined) => void }): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type='button' class='button' data-testid='run-open-file' onClick={() => input.current?.click()}>
        Open file
      </button>
      <input
        ref={input}
        type='file'
        hidden
        accept='.json,application/json'
        aria-label='Run file'
        data-testid='run-file'
        onChange={({ currentTarget }) => {
          onFile(currentTarget.files?.[0]);
          currentTarget.value = ''; // the same file may be chosen again
        }}
      />
    </>
  );
}

/** Asks for confirmation in place of the button. */
function Erase({ inspector }: { inspector: Inspector }): JSX.Element {
  const isAsking = useSignal(false);
  if (!isAsking.value) {
    return (
      <button type='button' class='button' data-testid='runs-erase' onClick={() => (isAsking.value = true)}>
        <Icon name='trash' />
        Erase all…
      </button>
    );
  }
  return (
    <>
      <button
        type='button'
        class='button is-danger'
        data-testid='runs-erase-sure'
        ref={(button) => button?.focus()}
        onClick={() => {
          isAsking.value = false;
          void inspector.erase();
        }}
      >
        Erase all runs
      </button>
      <button type='button' class='button' onClick={() => (isAsking.value = false)}>Cancel</button>
    </>
  );
}
