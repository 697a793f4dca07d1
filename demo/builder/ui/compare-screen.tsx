import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { type Compare, createCompare, type Side } from '../state/compare.ts';
import type { Playground } from '../../app/state/playground.ts';
import { oncePer } from '../../kit/hooks/once-per.ts';
import { uncover } from '../../app/ui/over-chat.ts';
import { OverScreen } from '../../kit/over-screen.tsx';
import { Icon } from '../../kit/icon.tsx';
import { CompareSide } from './compare-side.tsx';

/** Two agents, or two variants of one, side by side: the same message, two answers, what each took. */
export function CompareScreen({ playground }: { playground: Playground }): JSX.Element {
  const compare = compareOf(playground);
  const close = (): void => void (playground.workshop.value = undefined);
  const keep = async (side: Side): Promise<void> => {
    if (!await compare.keep(side)) return;
    uncover(playground);
    playground.focusRequests.value++;
  };
  return (
    <OverScreen
      playground={playground}
      name='compare'
      label='Compare'
      title='Side by side'
      back='Back to the chat'
      onBack={close}
      onClose={undefined}
      problem={undefined}
    >
      <div class='compare-sides'>
        {compare.sides.map((side) => (
          <CompareSide
            key={side.name}
            side={side}
            compare={compare}
            onKeep={() => void keep(side)}
          />
        ))}
      </div>
      <CompareField compare={compare} />
    </OverScreen>
  );
}

/** The message to both. */
function CompareField({ compare }: { compare: Compare }): JSX.Element {
  const field = useRef<HTMLTextAreaElement>(null);
  const isBusy = compare.isRunning.value;
  const send = (): void => {
    if (!isBusy) void compare.send();
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
        ref={field}
        data-testid='compare-text'
        aria-label='Message to both'
        placeholder='Message to both'
        rows={2}
        enterkeyhint='send'
        value={compare.draft.value}
        onInput={({ currentTarget }) => (compare.draft.value = currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      <div class='composer-foot'>
        <p class='hints'>
          <span>
            <kbd>Enter</kbd> sends to both
          </span>
        </p>
        {isBusy
          ? (
            <button type='button' class='send is-stop' data-testid='compare-stop' onClick={() => compare.stop()}>
              <Icon name='stop' /> Stop both
            </button>
          )
          : (
            <button
              type='submit'
              class='send'
              data-testid='compare-send'
              disabled={compare.draft.value.trim() === ''}
            >
              <Icon name='send' /> Send to both
            </button>
          )}
      </div>
    </form>
  );
}

const compareOf = oncePer((playground: Playground): Compare => {
  const compare = createCompare(playground);
  void compare.start();
  return compare;
});
