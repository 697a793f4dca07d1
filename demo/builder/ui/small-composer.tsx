import type { Signal } from '@preact/signals';
import type { JSX } from 'preact';
import { Icon } from '../../kit/icon.tsx';

interface SmallComposerProps {
  readonly draft: Signal<string>;
  readonly isBusy: boolean;
  readonly label: string;
  readonly sendLabel: string;
  readonly stopLabel: string;
  /** The test ids start with it. */
  readonly name: string;
  readonly onSend: () => void;
  readonly onStop: () => void;
}

/** A field for a message with one button. Enter sends. */
export function SmallComposer(
  { draft, isBusy, label, sendLabel, stopLabel, name, onSend, onStop }: SmallComposerProps,
): JSX.Element {
  const send = (): void => {
    if (!isBusy) onSend();
  };
  return (
    <form
      class='composer compare-composer'
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        data-testid={`${name}-text`}
        aria-label={label}
        placeholder={label}
        rows={2}
        enterkeyhint='send'
        value={draft.value}
        onInput={({ currentTarget }) => (draft.value = currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      <div class='composer-foot'>
        <p class='hints'>
          <span>
            <kbd>Enter</kbd> sends
          </span>
        </p>
        {isBusy
          ? (
            <button type='button' class='send is-stop' data-testid={`${name}-stop`} onClick={onStop}>
              <Icon name='stop' /> {stopLabel}
            </button>
          )
          : (
            <button type='submit' class='send' data-testid={`${name}-send`} disabled={draft.value.trim() === ''}>
              <Icon name='send' /> {sendLabel}
            </button>
          )}
      </div>
    </form>
  );
}
