import type { JSX } from 'preact';

const words: Readonly<Record<string, string>> = {
  new: 'starting',
  ended: 'done',
  error: 'failed',
  suspended: 'waiting for answers',
  cancelled: 'canceled',
};

/** The state of a run, a plan or an agent in people's words. */
export function StateWord({ state }: { state: string }): JSX.Element {
  return <span class='state-word' data-state={state}>{words[state] ?? state.replaceAll('_', ' ')}</span>;
}
