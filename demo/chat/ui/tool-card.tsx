import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId } from 'preact/hooks';
import type { Decision } from '../../../src/permission/interruption.ts';
import type { ToolCall, ToolPart, ToolState } from '../state/message.ts';
import { formatDuration, summarize } from '../../kit/format.ts';
import { Icon, type IconName } from '../../kit/icon.tsx';
import { lazy } from '../../kit/lazy.tsx';

/** Loaded with the first call that waits for a person. */
const Approval = lazy(async () => (await import('./approval.tsx')).Approval);
/** Loaded when a card is opened. */
const ToolDetails = lazy(async () => (await import('./tool-details.tsx')).ToolDetails);

const states: Readonly<Record<ToolState, { readonly word: string; readonly icon?: IconName }>> = {
  starting: { word: 'Starting' },
  input: { word: 'Preparing input' },
  running: { word: 'Running' },
  waiting: { word: 'Waiting for you', icon: 'wait' },
  result: { word: 'Done', icon: 'check' },
  error: { word: 'Failed', icon: 'cross' },
  denied: { word: 'Denied', icon: 'hand' },
  undecided: { word: 'Not decided', icon: 'wait' },
  stopped: { word: 'Stopped', icon: 'stop' },
};

interface ToolCardProps {
  readonly part: ToolPart;
  readonly title?: string | undefined;
  readonly onDecide?: (decision: Decision) => void;
  /** Shown in place of the approval while the call's MCP server needs the person. */
  readonly need?: ComponentChildren;
  /** The app that shows the result. */
  readonly app?: ComponentChildren;
}

/** One tool call: name, state, approval, and details on demand. */
export function ToolCard({ part, title: known, onDecide = () => undefined, need, app }: ToolCardProps): JSX.Element {
  const isOpen = useSignal(false);
  const id = useId();
  const call = part.call.value;
  const { word, icon } = stateOf(call);
  const title = call.title ?? known ?? (call.name || 'Tool');
  return (
    <section
      role='group' // a chat may have many with one name: no landmarks
      class='tool-card'
      data-testid='tool-card'
      data-tool={call.name}
      data-state={call.state}
      aria-label={`Tool ${title}: ${word}`}
    >
      <button
        type='button'
        class='tool-head'
        aria-expanded={isOpen.value}
        aria-controls={id}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        <span class='tool-state'>{icon ? <Icon name={icon} /> : <span class='spinner' />}</span>
        <span class='tool-name'>{title}</span>
        {/* What a person decides on is below, field by field: one line in the model's order could pose as another call. */}
        <span class='tool-summary'>{call.state === 'waiting' ? '' : <bdi>{summarize(call.input)}</bdi>}</span>
        <span class='tool-time'>
          {word}
          <Elapsed call={call} />
        </span>
        <Icon name='chevron' />
      </button>
      <ToolProgress call={call} />
      <ToolProblem call={call} />
      {need ?? (call.approval && <Approval call={call} onDecide={onDecide} />)}
      {app}
      <div id={id} hidden={!isOpen.value}>{isOpen.value && <ToolDetails part={part} />}</div>
    </section>
  );
}

function stateOf({ state, approval }: ToolCall): { readonly word: string; readonly icon?: IconName } {
  return state === 'waiting' && approval?.decision ? { word: 'Decided', icon: 'wait' } : states[state];
}

/** How far the call is, as the tool says. */
function ToolProgress({ call: { state, progress: at } }: { call: ToolCall }): JSX.Element | null {
  if (state !== 'running' || !at) return null;
  return (
    <p class='tool-progress' data-testid='tool-progress'>
      <progress value={at.total && at.progress} max={at.total} aria-label='Progress' />
      <span>{at.message ?? (at.total ? `${at.progress} of ${at.total}` : at.progress)}</span>
    </p>
  );
}

/** Why the call failed; visible without opening the card. */
function ToolProblem({ call: { state, failure, errorText } }: { call: ToolCall }): JSX.Element | null {
  if (state !== 'error') return null;
  return (
    <p class='tool-problem'>
      <span>{failure?.message ?? errorText ?? 'The call failed'}</span>
      {failure?.retryable && <span class='chip'>may work later</span>}
    </p>
  );
}

/** The time since the call started, ticking while it runs. */
function Elapsed({ call }: { call: ToolCall }): JSX.Element | null {
  const { state, startedAt, endedAt } = call;
  const now = useSignal(Date.now());
  const isRunning = state === 'running';
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => (now.value = Date.now()), 100);
    return () => clearInterval(timer);
  }, [isRunning]);
  if (state === 'denied' || state === 'undecided') return null; // the time a person took is not the tool's
  if (isRunning) return <time>{formatDuration(Math.max(0, now.value - startedAt))}</time>;
  return endedAt === undefined ? null : <time>{formatDuration(endedAt - startedAt)}</time>;
}
