import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { Icon } from './icon.tsx';

interface CopyButtonProps {
  /** Returns the text to copy when the button is pressed. */
  readonly text: () => string;
  readonly label: string;
  readonly testId?: string;
  /** Whether it is the main thing to do; else it is as quiet as the others beside it. */
  readonly isPrimary?: boolean;
}

/** Copies a text and says whether it worked. */
export function CopyButton({ text, label, testId, isPrimary = false }: CopyButtonProps): JSX.Element {
  const state = useSignal<'idle' | 'copied' | 'failed'>('idle');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text());
      state.value = 'copied';
    } catch {
      state.value = 'failed';
    }
    setTimeout(() => (state.value = 'idle'), 2000);
  };
  const said = { idle: label, copied: 'Copied', failed: 'Could not copy' }[state.value];
  return (
    <button
      type='button'
      class={isPrimary ? 'button is-primary' : 'quiet-button'}
      data-testid={testId}
      title={label}
      onClick={() => void copy()}
    >
      <Icon name={state.value === 'copied' ? 'check' : state.value === 'failed' ? 'cross' : 'copy'} />
      <span aria-live='polite'>{said}</span>
    </button>
  );
}
