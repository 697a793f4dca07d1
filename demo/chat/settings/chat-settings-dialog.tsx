/** The fields of the settings of a chat, checked as they are typed by the checks of the library. */

import './style.css';
import { type Signal, signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import * as v from 'valibot';
import { RunSettings } from '../../../src/base/model-settings.ts';
import { LimitOverrides } from '../../../src/base/schema.ts';
import { agentOf, type Playground } from '../../app/state/playground.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { oncePer } from '../../kit/hooks/once-per.ts';
import { modelPlaceOf } from '../../settings/state/settings.ts';
import { type ChatSettings, namesOf } from '../state/chat-settings.ts';
import type { Chat } from '../state/chat.ts';
import { Button, IconButton } from '../../kit/button.tsx';

/** What was written and not saved: closed with Esc and opened again, the dialog still has it. */
const draftOf = oncePer((_: Chat): Signal<FieldTexts | undefined> => signal(undefined));

/** The system prompt and the parameters of the open chat. */
export function ChatSettingsDialog({ playground }: { playground: Playground }): JSX.Element {
  const { chats, overlay, settings, agents, announcement } = playground;
  const chat = chats.current.value;
  const agent = agentOf(agents, chat.agentId.value);
  const choice = settings.choice.value;
  const at = modelPlaceOf(choice);
  const draft = draftOf(chat);
  const stored = textsOf(chat.settings.value, at);
  const texts = draft.value ?? stored;
  const names = Object.keys(texts) as FieldName[]; // of the texts
  const isWrong = names.some((name) => problemOf(name, texts[name]) !== undefined);
  const isSampled = (['temperature', 'topP', 'outputTokens'] as const).some((name) => texts[name] !== '');
  const close = (): void => void (overlay.value = 'none');
  const field = (name: FieldName): Omit<SettingFieldProps, 'label' | 'help'> => ({
    name,
    value: texts[name],
    onInput: (value) => (draft.value = { ...texts, [name]: value }),
  });
  return (
    <Dialog class='settings chat-settings' label='Chat settings' testId='chat-settings' onClose={close}>
      <form
        noValidate
        autocomplete='off'
        onSubmit={(event) => {
          event.preventDefault();
          if (isWrong) return;
          chats.configure(chat, settingsOf(texts, { at, before: chat.settings.value }));
          draft.value = undefined;
          close();
        }}
      >
        <header class='dialog-head'>
          <h2>Chat settings</h2>
          <IconButton icon='cross' label='Close' onClick={close} />
        </header>
        <p class='field-help'>For this chat only, from the next message on. Leave a field empty for the default.</p>
        {names.some((name) => texts[name] !== stored[name]) && (
          <p class='field-help' role='status'>These changes are not saved yet.</p>
        )}
        {choice.type === 'pinnace' && (
          <p class='notice' data-testid='chat-settings-endpoint'>
            The endpoint decides. It refuses a system prompt, sampling or a model unless the agent’s record allows them
            (“callerSettings”). The limit of output tokens always applies.
          </p>
        )}
        {agent.plans === true && (
          <p class='notice' data-testid='chat-settings-plans'>
            {agent.name}{' '}
            works by plans, whose agents have settings of their own. Of these, only the limit of output tokens applies.
          </p>
        )}
        <SettingField
          {...field('instructions')}
          label='System prompt'
          rows={5}
          help={`Added after the instructions of ${agent.name}, which still apply.`}
        />
        <details class='chat-settings-sampling' open={isSampled}>
          <summary>Sampling and length</summary>
          <div class='chat-settings-numbers'>
            <SettingField {...field('temperature')} label='Temperature' help='0 to 2. Higher is more varied.' />
            <SettingField {...field('topP')} label='Top P' help='0 to 1. Lower is more focused.' />
            <SettingField {...field('outputTokens')} label='Max output tokens' help='Per model call.' />
          </div>
        </details>
        {at !== undefined && (
          <SettingField
            {...field('model')}
            label='Model'
            help={choice.type === 'endpoint'
              ? `Replaces ${choice.model}, on the same server.`
              : 'A model of the agent’s provider.'}
          />
        )}
        <footer class='dialog-foot'>
          <Button
            testId='chat-settings-reset'
            disabled={namesOf(chat.settings.value).length === 0}
            onClick={() => {
              chats.configure(chat, {});
              draft.value = undefined;
              announcement.value = 'Chat settings are reset';
            }}
          >
            Reset
          </Button>
          <Button type='submit' kind='primary' testId='chat-settings-save' disabled={isWrong}>
            Save
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

interface SettingFieldProps {
  readonly name: FieldName;
  readonly label: string;
  readonly help: string;
  readonly value: string;
  readonly rows?: number;
  readonly onInput: (value: string) => void;
}

function SettingField({ name, label, help, value, rows, onInput }: SettingFieldProps): JSX.Element {
  const id = useId();
  const problem = problemOf(name, value);
  const attributes = {
    id,
    name,
    value,
    'data-testid': `chat-settings-${name}`,
    'aria-invalid': problem !== undefined,
    'aria-describedby': `${id}-help`,
    autocomplete: 'off',
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      onInput(currentTarget.value),
  } as const;
  const isText = name === 'instructions' || name === 'model';
  return (
    <div class='field'>
      <label for={id}>{label}</label>
      {rows === undefined
        ? (
          <input
            type='text'
            inputMode={isText ? 'text' : 'decimal'}
            autocapitalize='off'
            spellcheck={false}
            {...attributes}
          />
        )
        : <textarea rows={rows} dir='auto' {...attributes} />}
      <p id={`${id}-help`} class={problem === undefined ? 'field-help' : 'field-error'}>{problem ?? help}</p>
    </div>
  );
}

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
