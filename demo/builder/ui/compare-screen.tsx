import type { JSX } from 'preact';
import { type Compare, createCompare, type Side } from '../state/compare.ts';
import type { Playground } from '../../app/state/playground.ts';
import { oncePer } from '../../kit/hooks/once-per.ts';
import { uncover } from '../../app/ui/over-chat.ts';
import { OverScreen } from '../../kit/over-screen.tsx';
import { CompareSide } from './compare-side.tsx';
import { SmallComposer } from './small-composer.tsx';

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
      title='Compare side by side'
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
      <SmallComposer
        draft={compare.draft}
        isBusy={compare.isRunning.value}
        label='Message to both'
        sendLabel='Send to both'
        stopLabel='Stop both'
        name='compare'
        onSend={() => void compare.send()}
        onStop={() => compare.stop()}
      />
    </OverScreen>
  );
}

const compareOf = oncePer((playground: Playground): Compare => {
  const compare = createCompare(playground);
  void compare.start();
  return compare;
});
