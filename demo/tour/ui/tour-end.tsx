import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Playground } from '../../app/state/playground.ts';
import type { Tour } from '../state/tour.ts';
import { formatCount } from '../../kit/format.ts';
import { Action } from './action.tsx';
import { showRuns } from '../../app/state/screens.ts';

/** Where the tour ends, and ways on from there. */
export function TourEnd({ tour, playground }: { tour: Tour; playground: Playground }): JSX.Element {
  const isRemoving = useSignal(false);
  const count = tour.chats.value.length;
  return (
    <>
      <div class='tour-text'>
        <h2>That was the tour</h2>
        <p role='status' data-testid='tour-say' data-progress='end'>
          Everything was real: runs in this page, without a server or a key.{' '}
          {count > 0 && `It added ${formatCount(count, 'chat')} to your list.`}
        </p>
      </div>
      <div class='tour-actions'>
        <Action
          testId='tour-runs'
          label='See all runs'
          onClick={() => {
            tour.leave();
            showRuns(playground, { where: 'page' });
          }}
          isPrimary
        />
        {count > 0 && (
          <Action
            testId='tour-remove'
            label={`Delete ${formatCount(count, 'chat')}`}
            isOff={isRemoving.value}
            onClick={() => {
              isRemoving.value = true;
              void tour.removeChats().finally(() => (isRemoving.value = false));
            }}
          />
        )}
        <Action testId='tour-again' label='Start again' onClick={() => tour.startAgain()} />
      </div>
    </>
  );
}
