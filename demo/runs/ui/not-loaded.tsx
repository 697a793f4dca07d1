import type { JSX } from 'preact';

/** In the place of a part that could not be fetched. */
export function NotLoaded({ onRetry }: { onRetry: () => void }): JSX.Element {
  return (
    <div class='inspector-empty' role='alert'>
      <p>This part could not be loaded. Check your network connection.</p>
      <button type='button' class='button' onClick={onRetry}>Try again</button>
    </div>
  );
}
