import type { JSX } from 'preact';
import type { Playground } from '../../app/state/playground.ts';
import { Button } from '../../kit/button.tsx';

/** Shown while the open chat's run continues unread, with a button to resume reading. */
export function LeftReading({ playground: { chats } }: { playground: Playground }): JSX.Element | null {
  const run = chats.current.value.run.value;
  const reading = run?.reading.value;
  if (!run || !reading?.isLeft) return null;
  return (
    <p class='ending left-reading' role='status' data-testid='left-reading'>
      <span>You stopped reading after chunk {reading.leftAt.at(-1)}. The run continues for 30 seconds.</span>
      <Button icon='play' testId='read-on' onClick={() => run.readOn()}>
        Resume reading
      </Button>
    </p>
  );
}
