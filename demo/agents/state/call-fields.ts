/** The fields of an agent's form about its model calls: settings, limits, and what the answer must be. */

import { defaultLimits, type Limits } from '../../../src/runtime/limits.ts';
import type { FieldSpec } from './record-fields.ts';

/** The limits of a run that an agent may lower, as fields of a form. */
const limits: Readonly<Record<string, string>> = {
  steps: 'Steps',
  toolCalls: 'Tool calls',
  callsPerMinute: 'Tool calls per minute',
  outputTokens: 'Output tokens',
  totalMs: 'Whole run (ms)',
  stepMs: 'One step (ms)',
  toolMs: 'One tool call (ms)',
  firstChunkMs: 'Time to first token (ms)',
  reasoningMs: 'Max silence while reasoning (ms)',
  chunkMs: 'Max gap between tokens (ms)',
  recoveries: 'Continuations after a lost instance',
};

const settings: Readonly<Record<string, string>> = {
  temperature: 'Temperature',
  topP: 'Top P',
  topK: 'Top K',
  maxOutputTokens: 'Max output tokens',
  presencePenalty: 'Presence penalty',
  frequencyPenalty: 'Frequency penalty',
  seed: 'Seed',
};

/** Number fields under one heading. */
export function numbers(within: string, group: string, labels: Readonly<Record<string, string>>): readonly FieldSpec[] {
  return Object.entries(labels).map(([name, label]) => ({ name: `${within}.${name}`, label, as: 'number', group }));
}

/** What a run may take when its agent does not say. */
function defaultOf({ name }: FieldSpec): string {
  const value = defaultLimits[name.replace('limits.', '') as keyof Limits]; // `undefined` for a limit that has no default
  return value === undefined ? 'no limit' : `default ${value.toLocaleString('en')}`;
}

export const contextTokens: FieldSpec = {
  name: 'contextTokens',
  label: 'Context window (tokens)',
  as: 'number',
  help: 'How many tokens the model accepts. Longer chats are summarized.',
};

const efforts = ['', 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

export const callFields: readonly FieldSpec[] = [
  {
    name: 'output',
    label: 'Structured answer',
    as: 'json',
    rows: 3,
    help: 'Like {"schema": {"type": "object"}}. Leave empty for text answers.',
  },
  {
    name: 'callerSettings',
    label: 'Caller settings',
    as: 'json',
    rows: 2,
    help: 'What callers may set, like {"instructions": true, "sampling": true, "models": []}. Leave empty for nothing.',
  },
  ...numbers('modelSettings', 'Model settings', settings),
  {
    name: 'modelSettings.reasoning',
    label: 'Reasoning effort',
    as: 'choice',
    options: efforts,
    initial: '',
    empty: 'Default',
    group: 'Model settings',
  },
  {
    name: 'modelSettings.providerOptions',
    label: 'Provider options',
    as: 'json',
    rows: 3,
    help: 'By provider, like {"openai": {"serviceTier": "flex"}}.',
    group: 'Model settings',
  },
  {
    name: 'modelSettings.headers',
    label: 'Headers',
    as: 'json',
    rows: 3,
    help: 'Sent with each call, like {"x-team": "maps"}. Credentials belong in the provider’s secret.',
    group: 'Model settings',
  },
  ...numbers('limits', 'Limits', limits).map((field) => ({ ...field, placeholder: defaultOf(field) })),
];
