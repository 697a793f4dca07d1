/** What forks say of themselves, in words. */

import type { ErrorData } from '../../../src/base/errors.ts';
import type { CallOutcome, ForkFacts, RunSteps } from './run-steps.ts';

/** An error, and what a person can do about it. */
export interface Advice {
  readonly what: string;
  readonly remedy: string;
}

const advice: Readonly<Record<string, Advice>> = {
  inputs_not_kept: {
    what: 'This run cannot be forked: its inputs were not recorded.',
    remedy:
      'Send the message again: new runs on this page are recorded. At an endpoint, its operator sets keep: "inputs".',
  },
  fork_of_plan: {
    what: 'This run follows a plan, and plans cannot be forked.',
    remedy: 'Send the message again instead.',
  },
  approval_open: {
    what: 'A call before this step is still waiting for a decision.',
    remedy: 'Decide on it in the chat, or fork from an earlier step.',
  },
  no_such_step: { what: 'The run has fewer steps.', remedy: 'Choose another step.' },
};

const byCode: Readonly<Record<string, Advice>> = {
  run_expired: {
    what: 'The log of this run has expired.',
    remedy: 'Send the message again to get a run that can be forked.',
  },
  not_found: {
    what: 'The log of this run is no longer stored.',
    remedy: 'Send the message again to get a run that can be forked.',
  },
  forbidden: {
    what: 'You do not have permission to fork this run with these changes.',
    remedy: 'At an endpoint, changing instructions or models needs the permission “registry:write”.',
  },
};

/** Returns what a person can do. */
export function adviceOn({ code, message, details }: ErrorData): Advice {
  const reason = details?.['reason'];
  return advice[String(reason)] ?? byCode[code] ?? { what: `${message}.`, remedy: 'Change the fork, or try again.' };
}

const changedWords: Readonly<Record<string, string>> = {
  instructions: 'different instructions',
  model: 'a different model',
  modelSettings: 'different model settings',
  message: 'a different message',
  toolOutputs: 'a different tool result',
  agent: 'the current agent',
};

/** `other instructions and another model`. */
export function changesOf({ changed }: ForkFacts): string {
  const words = changed.map((name) => changedWords[name] ?? name);
  return words.length === 0 ? 'no changes' : new Intl.ListFormat('en').format(words);
}

const states: Readonly<Record<string, string>> = {
  running: 'Running',
  completed: 'Completed',
  awaiting_approval: 'Waiting for approval',
  suspended: 'Waiting for answers',
  stopped: 'Reached a limit',
  cancelled: 'Stopped',
  failed: 'Failed',
  interrupted: 'Interrupted',
  lost: 'Connection lost',
};

export function stateOf({ state, error }: RunSteps): string {
  const word = states[state] ?? state;
  return error ? `${word}: ${error.message}` : word;
}

export function outcomeWords(outcome: CallOutcome): string {
  switch (outcome.type) {
    case 'output':
      return 'Done';
    case 'error':
      return `Failed: ${outcome.message}`;
    case 'denied':
      return 'Denied';
    case 'waiting':
      return 'Waiting for approval';
    case 'open':
      return 'Not ended';
    default:
      return outcome satisfies never;
  }
}
