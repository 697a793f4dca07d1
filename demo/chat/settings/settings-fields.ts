/** The fields of the settings of a chat, checked as they are typed by the checks of the library. */

import * as v from 'valibot';
import { RunSettings } from '../../../src/base/model-settings.ts';
import { LimitOverrides } from '../../../src/base/schema.ts';
import type { ChatSettings } from '../state/chat-settings.ts';

/** The fields as texts. */
export interface FieldTexts {
  readonly instructions: string;
  readonly temperature: string;
  readonly topP: string;
  readonly outputTokens: string;
  readonly model: string;
}

export type FieldName = keyof FieldTexts;

const checks = {
  instructions: {
    schema: RunSettings.entries.instructions,
    problem: 'Write at most 16,384 characters.',
  },
  temperature: { schema: RunSettings.entries.temperature, problem: 'Enter a number from 0 to 2.' },
  topP: { schema: RunSettings.entries.topP, problem: 'Enter a number from 0 to 1.' },
  outputTokens: { schema: LimitOverrides.entries.outputTokens, problem: 'Enter a whole number of at least 1.' },
  model: { schema: RunSettings.entries.model, problem: 'Write at most 256 characters.' },
} as const;

const isNumber: Readonly<Record<FieldName, boolean>> = {
  instructions: false,
  temperature: true,
  topP: true,
  outputTokens: true,
  model: false,
};

/** The texts of the settings. A model of another server is not shown. */
export function textsOf(settings: ChatSettings, at: string | undefined): FieldTexts {
  const { instructions = '', temperature, topP, outputTokens, model } = settings;
  return {
    instructions,
    temperature: temperature?.toString() ?? '',
    topP: topP?.toString() ?? '',
    outputTokens: outputTokens?.toString() ?? '',
    model: model !== undefined && model.at === at ? model.id : '',
  };
}

/** What is wrong with a text; nothing is wrong with an empty one. */
export function problemOf(name: FieldName, text: string): string | undefined {
  const { schema, problem } = checks[name];
  return text.trim() === '' || v.safeParse(schema, valueOf(name, text)).success ? undefined : problem;
}

/** The settings that the texts make. Their checks have passed. A model of another server stays where none is shown. */
export function settingsOf(texts: FieldTexts, { at, before }: {
  readonly at: string | undefined;
  readonly before: ChatSettings;
}): ChatSettings {
  const given = (Object.keys(checks) as FieldName[]) // its own keys
    .filter((name) => name !== 'model' && texts[name].trim() !== '')
    .map((name) => [name, valueOf(name, texts[name])]);
  const id = texts.model.trim();
  const model = at === undefined ? before.model : id === '' ? undefined : { id, at };
  return { ...Object.fromEntries(given), ...(model && { model }) };
}

function valueOf(name: FieldName, text: string): unknown {
  const trimmed = text.trim();
  return isNumber[name] ? Number(trimmed.replace(',', '.')) : trimmed;
}
