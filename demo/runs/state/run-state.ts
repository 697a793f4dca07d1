/** The one state of a run that list, header and chat name alike. */

import type { RunHead } from '../../control/runs-control.ts';

/** What a run is: its colors and words are in `status.tsx`. */
export type RunState = 'running' | 'waiting' | 'interrupted' | 'failed' | 'stopped' | 'done';

/** All of them, as a list is filtered by. */
export const runStates: readonly RunState[] = ['running', 'waiting', 'interrupted', 'failed', 'stopped', 'done'];

/** Returns the state of a run. One without an end is running only where its worker is. */
export function stateOfRun(
  { status, end, isInterrupted = false }: Pick<RunHead, 'status' | 'end' | 'isInterrupted'>,
): RunState {
  if (end === 'awaiting_approval' || end === 'suspended') return 'waiting';
  if (end === 'stopped') return 'stopped';
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
