import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import type { ReasoningPart } from '../state/message.ts';
import { Icon } from '../../kit/icon.tsx';

/** The model's reasoning, collapsed at first. */
export function Reasoning({ part }: { part: ReasoningPart }): JSX.Element | null {
  const isOpen = useSignal(false);
  const id = useId();
  const isThinking = !part.done.value;
  if (part.text.value === '' && !isThinking) return null;
  return (
    <section class='reasoning' data-testid='reasoning'>
      <button
        type='button'
        class='quiet-button'
        aria-expanded={isOpen.value}
        aria-controls={id}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        <Icon name='thought' />
        <span class={isThinking ? 'shimmer' : undefined}>{isThinking ? 'Thinking…' : 'Reasoning'}</span>
        <Icon name='chevron' />
      </button>
      <div id={id} class='reasoning-text' hidden={!isOpen.value}>{isOpen.value && part.text.value}</div>
    </section>
  );
}
