import type { Signal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import type { ModelChoice as Chosen } from '../state/settings.ts';

/** What a person chooses from. */
export type Source = Chosen['type'] | 'local';

const choices: readonly { readonly value: Source; readonly title: string; readonly text: string }[] = [
  {
    value: 'browser',
    title: 'This browser',
    text: 'The model that comes with the browser. No key, no cost; nothing leaves this device.',
  },
  {
    value: 'local',
    title: 'This computer',
    text: 'A model of Ollama, LM Studio, llama.cpp or vLLM that runs here. Nothing is sent elsewhere.',
  },
  {
    value: 'endpoint',
    title: 'A model server, with your key',
    text: 'OpenRouter, OpenAI, Groq and others, or any OpenAI-compatible address. Messages and tool results are sent ' +
      'there, straight from this page.',
  },
  {
    value: 'pinnace',
    title: 'A Pinnace server',
    text: 'Agents and tools run there instead of in this page, with the server’s own models. Every request is signed.',
  },
  {
    value: 'rehearsal',
    title: 'Scripted demo',
    text: 'No AI: a script that calls the real tools. Free, instant, offline.',
  },
];

interface ModelChoiceProps {
  readonly source: Signal<Source>;
  /** What a choice needs to know, shown below the chosen one. */
  readonly children: ComponentChildren;
  /** A word beside a title. */
  readonly states: Partial<Record<Source, string | undefined>>;
}

export function ModelChoice({ source, children, states }: ModelChoiceProps): JSX.Element {
  return (
    <fieldset class='model-choice'>
      <legend class='visually-hidden'>Choose a model</legend>
      {choices.map(({ value, title, text }) => {
        const isChosen = source.value === value;
        return (
          <div key={value} class='choice' data-chosen={isChosen}>
            <label class='choice-label'>
              <input
                type='radio'
                name='type'
                value={value}
                checked={isChosen}
                data-testid={`settings-${value}`}
                onChange={() => (source.value = value)}
              />
              <span class='choice-title'>
                {title}
                {states[value] !== undefined && (
                  <span class='choice-state' data-testid={`state-${value}`}>{states[value]}</span>
                )}
              </span>
              <span class='choice-text'>{text}</span>
            </label>
            {isChosen && children}
          </div>
        );
      })}
    </fieldset>
  );
}
