/** What an error means to the person, and what to do about it. */

import type { ErrorShape } from './run-data.ts';

/** What a button in the callout does. */
export type Remedy = 'retry' | 'settings' | 'new-chat' | 'reload' | 'room';

/** An error in a person's words. */
export interface Problem {
  readonly title: string;
  readonly advice: string;
  /** The first is the best. */
  readonly remedies: readonly Remedy[];
}

const retry: readonly Remedy[] = ['retry'];
const settings: readonly Remedy[] = ['settings'];

/** By the finer cause, where one is known. */
const byReason: Readonly<Record<string, Problem>> = {
  provider_auth: {
    title: 'The endpoint refused the key',
    advice: 'Check that the key is whole, still valid, and may use this model.',
    remedies: ['settings', 'retry'],
  },
  provider_unreachable: {
    title: 'The endpoint cannot be reached',
    advice: 'Check its address and your connection. It must also allow requests from web pages (CORS).',
    remedies: ['retry', 'settings'],
  },
  provider_unavailable: {
    title: 'The endpoint has a problem',
    advice: 'It answered with an error of its own. Try again in a moment.',
    remedies: ['retry', 'settings'],
  },
  provider_invalid_request: {
    title: 'The endpoint refused the request',
    advice: 'Check the base URL and the name of the model. Some models cannot use tools.',
    remedies: ['settings', 'retry'],
  },
  provider_invalid_response: {
    title: 'That is not a model’s answer',
    advice: 'The address answers, but not as an OpenAI-compatible endpoint. Often “/v1” is missing at its end.',
    remedies: ['settings', 'retry'],
  },
  provider_rate_limited: {
    title: 'The endpoint asks for a pause',
    advice: 'It takes no more requests for now.',
    remedies: retry,
  },
  provider_stream_cut: {
    title: 'The answer broke off',
    advice: 'The endpoint ended it in the middle.',
    remedies: retry,
  },
  stream_cut: { title: 'The answer broke off', advice: 'What was said until then is above.', remedies: retry },
  network: {
    title: 'The endpoint cannot be reached',
    advice: 'Check its address, and that it runs. It must also allow requests from this page (CORS).',
    remedies: ['retry', 'settings'],
  },
  no_issuer: {
    title: 'This page cannot sign requests',
    advice:
      'An endpoint takes signed requests alone, and no issuer of certificates answers here, as on static hosting. ' +
      'Start the playground with “npm start”: it certifies its own page.',
    remedies: ['settings', 'retry'],
  },
  storage_full: {
    title: 'There is no room left',
    advice:
      'The browser’s storage for this site is full, and a run writes down what it does. Make room, then try again.',
    remedies: ['room', 'retry'],
  },
  storage_newer: {
    title: 'A newer version of this page was here',
    advice: 'What it has kept is left as it is, and nothing can be written beside it. Reload to get the newer version.',
    remedies: ['reload'],
  },
  too_many_messages: { title: 'This chat has grown too long', advice: 'Start a new one.', remedies: ['new-chat'] },
  request_too_large: { title: 'This chat has grown too long', advice: 'Start a new one.', remedies: ['new-chat'] },
  part_too_large: {
    title: 'A message is too long',
    advice: 'Send it in pieces, in a new chat.',
    remedies: ['new-chat'],
  },
  agent_disabled: {
    title: 'This agent is disabled',
    advice: 'Enable it in its registry (“Registry” for those of this page), or begin a chat with another one.',
    remedies: ['retry', 'new-chat'],
  },
};

/** By the code, which is always known. */
const byCode: Readonly<Record<string, Problem>> = {
  unavailable: {
    title: 'Not available right now',
    advice: 'Something that the run needs does not answer.',
    remedies: ['retry', 'settings'],
  },
  unauthenticated: {
    title: 'The key was not accepted',
    advice: 'Enter it again in the model settings.',
    remedies: settings,
  },
  certificate_untrusted: {
    title: 'The endpoint does not know this page’s issuer',
    advice:
      '“npm start” certifies its page for the endpoint that it starts. Another one has to trust its root key first.',
    remedies: settings,
  },
  certificate_invalid: {
    title: 'The certificate is for another endpoint',
    advice: '“npm start” certifies its page for the endpoint that it starts.',
    remedies: settings,
  },
  misdirected_request: {
    title: 'The endpoint does not answer to this address',
    advice: 'Enter the address that the endpoint knows itself by, such as http://127.0.0.1:8787.',
    remedies: settings,
  },
  rate_limited: { title: 'Too many requests', advice: 'Wait a moment, then try again.', remedies: retry },
  deadline_exceeded: { title: 'That took too long', advice: 'The run was ended at its time limit.', remedies: retry },
  budget_exceeded: {
    title: 'The run reached its limit',
    advice: 'What was said until then stands. Ask for less at once, or go on with another message.',
    remedies: retry,
  },
  invalid_argument: {
    title: 'The request was refused',
    advice: 'Change the message or the model, then try again.',
    remedies: ['retry', 'settings'],
  },
  not_found: {
    title: 'Something is missing',
    advice: 'The agent or the model of this chat is not there any more.',
    remedies: ['new-chat', 'settings'],
  },
  forbidden: { title: 'Not allowed', advice: 'This agent may not do that.', remedies: ['new-chat'] },
  conflict: {
    title: 'Something changed meanwhile',
    advice: 'Try again to go on from how things are now.',
    remedies: retry,
  },
  approval_required: {
    title: 'This needs an approval',
    advice: 'A person has to allow the call first.',
    remedies: retry,
  },
  outcome_unknown: {
    title: 'The outcome is unknown',
    advice: 'A tool call may or may not have happened. Check before you try again.',
    remedies: retry,
  },
  cancelled: { title: 'Stopped', advice: 'The run was stopped.', remedies: retry },
};

const unknown: Problem = {
  title: 'Something went wrong',
  advice: 'The fault is on our side. Try again; if it stays, reload the page.',
  remedies: ['retry', 'reload'],
};

/** Gives the error in a person's words. */
export function describeProblem({ code, details, retryAfterMs }: ErrorShape): Problem {
  const reason = details?.['reason'];
  const known = (typeof reason === 'string' ? own(byReason, reason) : undefined) ?? own(byCode, code) ?? unknown;
  if (retryAfterMs === undefined) return known;
  return { ...known, advice: `${known.advice} Try again in ${formatWait(retryAfterMs)}.` };
}

function own<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

function formatWait(ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  if (seconds < 120) return seconds === 1 ? 'a second' : `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}
