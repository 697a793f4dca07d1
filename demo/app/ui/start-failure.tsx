import type { JSX } from 'preact';
import { Mark } from '../../kit/mark.tsx';
import { Button } from '../../kit/button.tsx';

/** What the page shows when the agent worker does not start. */
export function StartFailure({ reason, onReload }: { reason: string; onReload: () => void }): JSX.Element {
  return (
    <main class='start' data-testid='start-failure'>
      <Mark />
      <div role='alert'>
        <h1>The agent worker did not start</h1>
        <p>
          The agents run in a worker of this page. Your chats are safe.
        </p>
        <p class='start-reason'>{reason}</p>
      </div>
      <Button kind='primary' testId='reload' onClick={onReload}>Reload the page</Button>
      <p class='start-help'>If this happens again, update the browser or turn off extensions that block scripts.</p>
    </main>
  );
}
