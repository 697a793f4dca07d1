/** The state of a run, of its answer and of its plan: one word and one look wherever it is shown. */

import type { JSX } from 'preact';
import type { RunHead } from '../control/runs-control.ts';
import { Icon, type IconName } from './icon.tsx';

export type RunState = 'running' | 'waiting' | 'interrupted' | 'failed' | 'stopped' | 'done';

const looks: Readonly<Record<RunState, { readonly icon: IconName; readonly word: string }>> = {
  running: { icon: 'wait', word: 'running' },
  waiting: { icon: 'question', word: 'waiting for you' },
  interrupted: { icon: 'warning', word: 'interrupted' },
  failed: { icon: 'cross', word: 'failed' },
  stopped: { icon: 'stop', word: 'stopped' },
  done: { icon: 'check', word: 'done' },
};

/** All of them, as a list is filtered by. */
export const runStates = Object.keys(looks) as readonly RunState[]; // its own keys

/** Returns the state of a run. One without an end is running only where its worker is. */
export function stateOfRun(
  { status, end, isInterrupted = false }: Pick<RunHead, 'status' | 'end' | 'isInterrupted'>,
): RunState {
  if (end === 'awaiting_approval' || end === 'suspended') return 'waiting';
  if (end === 'stopped' || end === 'interrupted') return end;
  switch (status) {
    case 'pending':
      return isInterrupted ? 'interrupted' : 'running';
    case 'error':
    case 'denied':
      return 'failed';
    case 'cancelled':
      return 'stopped';
    case 'ok':
      return 'done';
    default:
      return status satisfies never;
  }
}

export function wordOfRun(state: RunState): string {
  return looks[state].word;
}

/** What the states of plans, agents and actions look like, and their words where those differ. */
const others: Readonly<Record<string, readonly [RunState, word?: string]>> = {
  new: ['running', 'starting'],
  ready: ['running', 'ready'],
  ended: ['done'],
  completed: ['done'],
  ok: ['done', 'ok'],
  error: ['failed'],
  denied: ['failed', 'denied'],
  suspended: ['waiting'],
  cancelled: ['stopped', 'canceled'],
};

/** A state as mark and word. One that is not known is its word. */
export function RunStatus({ state }: { state: string }): JSX.Element {
  const [look, word] = others[state] ?? [runStates.find((each) => each === state)];
  return (
    <span class='span-status' data-run-state={look}>
      {look && <Icon name={looks[look].icon} />}
      <span>{word ?? (look ? looks[look].word : state.replaceAll('_', ' '))}</span>
    </span>
  );
}
