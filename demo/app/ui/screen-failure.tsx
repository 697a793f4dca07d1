import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Playground } from '../state/playground.ts';
import { isCovered, showBeside, uncover } from '../state/screens.ts';

interface ScreenFailureProps {
  readonly playground: Playground;
  readonly onRetry: () => void;
}

/** Replaces a screen whose code could not be loaded: reports it, retries, or returns to the chat. */
export function ScreenFailure({ playground, onRetry }: ScreenFailureProps): JSX.Element {
  const retry = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => retry.current?.focus(), []);
  const goBack = (): void => {
    uncover(playground);
    showBeside(playground, 'tree', false);
    playground.overlay.value = 'none';
    playground.focusRequests.value++;
  };
  // In the place of a page over the chat it is the page; beside the chat, that is.
  const isPage = isCovered(playground);
  const Place = isPage ? 'main' : 'div';
  const Title = isPage ? 'h1' : 'p';
  return (
    <Place>
      <section
        class='screen-failure'
        role='alertdialog'
        aria-labelledby='screen-failure'
        data-testid='screen-failure'
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          event.preventDefault();
          event.stopPropagation();
          goBack();
        }}
      >
        <Title id='screen-failure'>This part of the page could not be loaded. Check your network connection.</Title>
        <button type='button' class='button' data-testid='screen-back' onClick={goBack}>Back to the chat</button>
        <button ref={retry} type='button' class='button is-primary' data-testid='screen-retry' onClick={onRetry}>
          Try again
        </button>
      </section>
    </Place>
  );
}
