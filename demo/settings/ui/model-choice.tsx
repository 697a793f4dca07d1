import type { Signal } from '@preact/signals';
import type { JSX } from 'preact';
import type { ModelChoice as Chosen } from '../state/settings.ts';

type Type = Chosen['type'];

const choices: readonly { readonly value: Type; readonly title: string; readonly text: string }[] = [
  {
    value: 'rehearsal',
    title: 'Rehearsal',
    text: 'A small scripted model inside this page. Free, instant, offline: nothing leaves the page.',
  },
  {
    value: 'endpoint',
    title: 'Your endpoint',
    text: 'Any OpenAI-compatible endpoint. Messages and tool results are sent there, straight from this page.',
  },
  {
    value: 'pinnace',
    title: 'Pinnace endpoint',
    text: 'The agents and their tools run there, not in this page. Every request is signed.',
  },
];

/** The choice of who answers. */
export function ModelChoice({ type }: { type: Signal<Type> }): JSX.Element {
  return (
    <fieldset class='model-choice'>
      <legend class='visually-hidden'>Which model answers</legend>
      {choices.map(({ value, title, text }) => (
        <label key={value} class='choice' data-chosen={type.value === value}>
          <input
            type='radio'
            name='type'
            value={value}
            checked={type.value === value}
            data-testid={`settings-${value}`}
            onChange={() => (type.value = value)}
          />
          <span class='choice-title'>{title}</span>
          <span class='choice-text'>{text}</span>
        </label>
      ))}
    </fieldset>
  );
}
