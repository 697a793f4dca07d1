import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { Icon } from '../../kit/icon.tsx';
import type { CompactionPart } from '../state/message.ts';

const number = new Intl.NumberFormat('en-US');

/** A line about the summary of earlier messages, collapsed at first. */
export function Compaction({ part }: { part: CompactionPart }): JSX.Element {
  const isOpen = useSignal(false);
  const id = useId();
  const { summary, tokensBefore, tokensAfter } = part;
  return (
    <section class='reasoning' data-testid='compaction'>
      <button
        type='button'
        class='quiet-button'
        aria-expanded={isOpen.value}
        aria-controls={id}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        <Icon name='fold' />
        <span>
          Earlier messages were summarized ({number.format(tokensBefore)} → {number.format(tokensAfter)} tokens)
        </span>
        <Icon name='chevron' />
      </button>
      <div id={id} class='reasoning-text' hidden={!isOpen.value}>{isOpen.value && summary}</div>
    </section>
  );
}
