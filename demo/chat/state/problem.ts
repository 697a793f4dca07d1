/** What an error means to the person, and what to do about it. */

import type { ErrorShape } from './run-data.ts';

/** What a button in the callout does. */
export type Remedy = 'remove-files' | 'retry' | 'settings' | 'chat-settings' | 'new-chat' | 'reload' | 'room';

/** An error in a person's words. */
export interface Problem {
  readonly title: string;
  readonly advice: string;
  /** The first is the best. */
  readonly remedies: readonly Remedy[];
}

const retry: readonly Remedy[] = ['retry'];
const settings: readonly Remedy[] = ['settings'];

const chatTooLong: Problem = {
  title: 'This chat is too long for the model',
  advice: 'Start a new chat, or connect a model with a larger context window.',
  remedies: ['remove-files', 'new-chat', 'settings'],
};

/** By the finer cause, where one is known. */
const byReason: Readonly<Record<string, Problem>> = {
  provider_auth: {
    title: 'The model server refused the key',
    advice: 'Check that the key is complete, valid, and allowed to use this model.',
    remedies: ['settings', 'retry'],
  },
  provider_quota: {
    title: 'The account at the provider has no credit left',
    advice: 'Add credit there, or choose another provider.',
    remedies: settings,
  },
  provider_unreachable: {
    title: 'The model server cannot be reached',
    advice: 'Check the address and your connection. The server must also allow requests from web pages (CORS).',
    remedies: ['retry', 'settings'],
  },
  provider_unavailable: {
    title: 'The model server failed',
    advice: 'It returned a server error. Try again in a moment.',
    remedies: ['retry', 'settings'],
  },
  provider_invalid_request: {
    title: 'The model server refused the request',
    advice: 'Check the server address and the name of the model. Some models cannot use tools.',
    remedies: ['settings', 'retry'],
  },
  page_gone: {
    title: 'The page that ran the browser’s model was closed',
    advice: 'This ended the answer. Try again.',
    remedies: retry,
  },
  context_overflow: chatTooLong,
  provider_context_length: chatTooLong,
  attachment_unsupported: {
    title: 'This model does not take files of this type',
    advice: 'Remove them, or choose a model that takes them.',
    remedies: ['remove-files', 'settings', 'new-chat'],
  },
  attachment_refused: {
    title: 'The model server refused the files',
    advice: 'The model may not take such files, or not so many. Remove them, or choose another model.',
    remedies: ['remove-files', 'settings', 'new-chat'],
  },
  attachment_missing: {
    title: 'A file is no longer stored',
    advice: 'Remove it, or attach it again.',
    remedies: ['remove-files', 'new-chat'],
  },
  attachment_too_large: {
    title: 'The files are too large',
    advice: 'Remove them, or send them in several messages.',
    remedies: ['remove-files', 'new-chat'],
  },
  vault_locked: {
    title: 'The vault is locked',
    advice: 'It holds the key of the model. Open it in the model settings.',
    remedies: settings,
  },
  no_browser_model: {
    title: 'This browser has no built-in model',
    advice: 'Connect another model.',
    remedies: settings,
  },
  needs_gesture: {
    title: 'The browser’s model is not downloaded',
    advice: 'Download it in the model settings.',
    remedies: settings,
  },
  model_code: {
    title: 'The model’s code has a bug',
    advice: 'The runtime passes the cause to “onError”. With “npm start”, the browser’s console shows it.',
    remedies: ['retry', 'settings'],
  },
  provider_invalid_response: {
    title: 'Unexpected response from the model server',
    advice: 'It is not OpenAI-compatible. Check that the address ends with “/v1”.',
    remedies: ['settings', 'retry'],
  },
  provider_rate_limited: {
    title: 'Rate limited',
    advice: 'The server accepts no more requests for now. Wait, then try again.',
    remedies: retry,
  },
  provider_stream_cut: {
    title: 'The connection closed before the answer was complete',
    advice: 'The server closed it during the answer. Try again.',
    remedies: retry,
  },
  stream_cut: {
    title: 'The connection closed before the answer was complete',
    advice: 'The text received so far is above.',
    remedies: retry,
  },
  network: {
    title: 'The endpoint cannot be reached',
    advice: 'Check the address and that the endpoint is running. It must also allow requests from this page (CORS).',
    remedies: ['retry', 'settings'],
  },
  no_issuer: {
    title: 'This page cannot sign requests',
    advice: 'Endpoints accept only signed requests. Start the playground with “npm start”, which certifies its page.',
    remedies: ['settings', 'retry'],
  },
  storage_full: {
    title: 'Storage is full',
    advice:
      'The browser’s storage for this site is full, so the run cannot be recorded. Free up space, then try again.',
    remedies: ['room', 'retry'],
  },
  storage_newer: {
    title: 'The stored data is from a newer version',
    advice: 'This version cannot read or write it. Reload to get the newer version.',
    remedies: ['reload'],
  },
  settings_not_allowed: {
    title: 'The chat settings were refused',
    advice: 'The record of this agent does not allow callers to set them. Reset them, then try again.',
    remedies: ['chat-settings', 'retry'],
  },
  too_many_messages: { title: 'This chat is too long', advice: 'Start a new one.', remedies: ['new-chat'] },
  request_too_large: { title: 'This chat is too long', advice: 'Start a new one.', remedies: ['new-chat'] },
  part_too_large: {
    title: 'A message is too long',
    advice: 'Split it into several messages in a new chat.',
    remedies: ['new-chat'],
  },
  agent_disabled: {
    title: 'This agent is disabled',
    advice: 'Enable it in the registry, or start a chat with another agent.',
    remedies: ['retry', 'new-chat'],
  },
};

/** By the code, which is always known. */
const byCode: Readonly<Record<string, Problem>> = {
  unavailable: {
    title: 'Not available right now',
    advice: 'A service that the run needs did not respond.',
    remedies: ['retry', 'settings'],
  },
  unauthenticated: {
    title: 'The key was not accepted',
    advice: 'Enter it again in the model settings.',
    remedies: settings,
  },
  certificate_untrusted: {
    title: 'The endpoint does not trust this page’s issuer',
    advice:
      '“npm start” certifies its page for the endpoint that it starts. Other endpoints must trust its root key first.',
    remedies: settings,
  },
  certificate_invalid: {
    title: 'The certificate is for another endpoint',
    advice: '“npm start” certifies its page for the endpoint that it starts.',
    remedies: settings,
  },
  misdirected_request: {
    title: 'The endpoint has a different address',
    advice: 'Enter the address that the endpoint is configured with, such as http://127.0.0.1:8787.',
    remedies: settings,
  },
  rate_limited: { title: 'Too many requests', advice: 'Wait a moment, then try again.', remedies: retry },
  deadline_exceeded: { title: 'The run took too long', advice: 'The run reached its time limit.', remedies: retry },
  budget_exceeded: {
    title: 'The run reached its limit',
    advice: 'The text so far is saved. Ask for less at once, or send another message.',
    remedies: retry,
  },
  invalid_argument: {
    title: 'The request was refused',
    advice: 'Change the message or the model, then try again.',
    remedies: ['retry', 'settings'],
  },
  not_found: {
    title: 'Something is missing',
    advice: 'The agent or the model of this chat was removed.',
    remedies: ['new-chat', 'settings'],
  },
  forbidden: {
    title: 'Not allowed',
    advice: 'This agent does not have permission to do that.',
    remedies: ['new-chat'],
  },
  conflict: {
    title: 'Conflicting change',
    advice: 'The data changed while you worked. Try again.',
    remedies: retry,
  },
  approval_required: {
    title: 'Approval required',
    advice: 'A person must approve the call first.',
    remedies: retry,
  },
  outcome_unknown: {
    title: 'The result is unknown',
    advice:
      'The end of this answer was not stored. If it was calling a tool, check what that did before you try again.',
    remedies: retry,
  },
  cancelled: { title: 'Stopped', advice: 'The run was stopped.', remedies: retry },
};

const unknown: Problem = {
  title: 'Something went wrong',
  advice: 'This is a bug in Pinnace. Try again; if it happens again, reload the page.',
  remedies: ['retry', 'reload'],
};

/** Returns the error in a person's words. */
export function describeProblem({ code, details, retryAfterMs }: ErrorShape): Problem {
  const reason = details?.['reason'];
  if (typeof reason === 'string' && reason.startsWith('period_')) return spentBudget(details ?? {});
  if (reason === 'context_window') return tooLong(details ?? {});
  const known = (typeof reason === 'string' ? own(byReason, reason) : undefined) ?? own(byCode, code) ?? unknown;
  if (retryAfterMs === undefined) return known;
  return { ...known, advice: `${known.advice} Try again in ${formatWait(retryAfterMs)}.` };
}

/** The message that is answered takes more than the model does: trying again cannot help. */
function tooLong({ tokens, contextTokens }: Readonly<Record<string, unknown>>): Problem {
  const by = Math.ceil((Number(tokens) / Number(contextTokens) - 1) * 100);
  return {
    title: by > 0
      ? `The message exceeds what this model takes by ${by.toLocaleString('en')} %`
      : 'The message exceeds what this model takes',
    advice: 'Remove its files or shorten it, or choose a model with a larger context window.',
    remedies: ['remove-files', 'new-chat', 'settings'],
  };
}

/** A budget of a period is used. Trying again helps when the next period has started. */
function spentBudget({ of, every, resetsAt }: Readonly<Record<string, unknown>>): Problem {
  const period = typeof every === 'string' ? every : 'period';
  const at = typeof resetsAt === 'string' ? new Date(resetsAt) : new Date(NaN);
  const owners: Readonly<Record<string, string>> = {
    tenant: `Your team’s budget for this ${period} is used`,
    agent: `This agent’s budget for this ${period} is used`,
  };
  const when = Number.isNaN(at.getTime())
    ? 'with the next one'
    : `at ${at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })}`;
  return {
    title: own(owners, String(of)) ?? `Your ${period}’s budget is used`,
    advice: `It starts again ${when}. What was said so far is saved.`,
    remedies: retry,
  };
}

function own<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

function formatWait(ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  if (seconds < 120) return seconds === 1 ? 'a second' : `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}
