import type { JSX } from 'preact';
import { Button } from '../../kit/button.tsx';

/** In the place of a part that could not be fetched. */
export function NotLoaded({ onRetry }: { onRetry: () => void }): JSX.Element {
  return (
    <div class='inspector-empty' role='alert'>
      <p>This part could not be loaded. Check your network connection.</p>
      <Button onClick={onRetry}>Try again</Button>
    </div>
  );
}
