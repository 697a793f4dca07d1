/** Shows where to look: marks one element of the page, wherever it is drawn anew. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Playground } from '../../app/state/playground.ts';
import { showRun, showRuns, uncover } from '../../app/state/screens.ts';
import { formatCount } from '../../kit/format.ts';
import { oncePer } from '../../kit/hooks/once-per.ts';
import { panelOf } from '../../tree/ui/panel-of.ts';
import type { TourAct } from '../state/progress.ts';
import { stops } from '../state/stops.ts';
import { stopCount } from '../state/tour-notes.ts';
import { createTour, type Tour } from '../state/tour.ts';
import { Button, IconButton } from '../../kit/button.tsx';

/** The tour, below everything else on the page, which it leaves to the visitor. */
export function TourStrip({ playground }: { playground: Playground }): JSX.Element {
  const tour = tourOf(playground);
  const stop = tour.stop.value;
  const { look } = tour.progress.value;
  const isInSight = tour.isInSight.value;
  const section = useRef<HTMLElement>(null);
  // Dialogs restore the focus; the tour takes it.
  useLayoutEffect(() => {
    section.current?.focus();
    tour.comeBack();
    return () => playground.focusRequests.value++;
  }, []);
  useEffect(() => (look !== undefined && isInSight ? lookAt(look) : undefined), [look, isInSight, stop?.id]);
  return (
    <section ref={section} class='tour' aria-label='Tour' data-testid='tour' tabIndex={-1}>
      <Steps tour={tour} />
      {stop
        ? <Stop key={stop.id} tour={tour} playground={playground} />
        : <TourEnd tour={tour} playground={playground} />}
      <IconButton
        icon='cross'
        label='Leave the tour'
        class='tour-leave'
        testId='tour-leave'
        title='Leave the tour; you can continue it later'
        onClick={() => tour.leave()}
      />
    </section>
  );
}

const tourOf = oncePer((playground: Playground): Tour =>
  createTour({
    playground,
    latest: () => panelOf(playground).latest.value,
    uncover: () => uncover(playground),
  })
);

function Steps({ tour }: { tour: Tour }): JSX.Element {
  const at = tour.at.value;
  return (
    <ol class='tour-steps' aria-label='Stops'>
      {stops.map(({ id, title }, i) => (
        <li key={id}>
          <button
            type='button'
            data-testid='tour-step'
            data-visited={tour.visited.value.has(id)}
            aria-current={i === at ? 'step' : undefined}
            aria-label={`${i + 1}: ${title}${tour.visited.value.has(id) ? ', visited' : ''}`}
            title={title}
            onClick={() => tour.goTo(i)}
          />
        </li>
      ))}
    </ol>
  );
}

/** One stop: what will happen, what happens, what has happened. */
function Stop({ tour, playground }: { tour: Tour; playground: Playground }): JSX.Element {
  const { type, say } = tour.progress.value;
  const stop = tour.stop.value;
  const isVisited = type === 'done' || (stop !== undefined && tour.visited.value.has(stop.id));
  const text = useRef<HTMLParagraphElement>(null);
  const was = useRef(type);
  // The pressed button is removed with its step; move the focus to the text.
  useEffect(() => {
    if (was.current !== type && document.activeElement === document.body) text.current?.focus();
    was.current = type;
  }, [type]);
  return (
    <>
      <div class='tour-text'>
        <h2>
          <span class='tour-count'>{tour.at.value + 1} of {stopCount}</span> {stop?.title}
        </h2>
        <p ref={text} tabIndex={-1} role='status' data-testid='tour-say' data-progress={type}>{say}</p>
        <Obstacle tour={tour} playground={playground} />
      </div>
      <div class='tour-actions'>
        <Actions tour={tour} playground={playground} isVisited={isVisited} />
      </div>
    </>
  );
}

interface ActionsProps {
  readonly tour: Tour;
  readonly playground: Playground;
  readonly isVisited: boolean;
}

function Actions({ tour, playground, isVisited }: ActionsProps): JSX.Element {
  const { type, act } = tour.progress.value;
  const traced = tour.traced.value;
  const isBlocked = tour.obstacle.value !== undefined;
  const next = (): void => tour.goTo(tour.at.value + 1);
  if (!tour.isInSight.value) {
    return <Action testId='tour-back' label='Back to the tour’s chat' onClick={() => tour.comeBack()} isPrimary />;
  }
  return (
    <>
      {type === 'ready' && (
        <Action
          testId='tour-start'
          label={tour.stop.value?.button ?? ''}
          onClick={() => tour.start()}
          isPrimary={!isVisited}
          isOff={isBlocked}
        />
      )}
      {act && (
        <Action
          testId='tour-act'
          label={actLabels[act]}
          onClick={() => tour.act()}
          isPrimary
        />
      )}
      {type === 'missed' && <Action testId='tour-start' label='Start again' onClick={() => tour.start()} isPrimary />}
      {type === 'done' && traced && (
        <Action
          testId='tour-how'
          label='How it works'
          onClick={() => showRun(playground, traced)}
        />
      )}
      {isVisited
        ? <Action testId='tour-next' label='Next' onClick={next} isPrimary={type === 'done'} />
        : <Action testId='tour-skip' label='Skip' onClick={next} />}
    </>
  );
}

const actLabels: Readonly<Record<TourAct, string>> = {
  leave: 'Stop reading',
  'read-on': 'Resume reading',
  pull: 'Pull the plug',
};

/** Why this stop cannot start, and what to do. */
function Obstacle({ tour, playground: { settings } }: { tour: Tour; playground: Playground }): JSX.Element | null {
  switch (tour.obstacle.value) {
    case 'model':
      return (
        <p class='tour-obstacle' data-testid='tour-obstacle'>
          These runs are made for the embedded model, and another one is chosen.{' '}
          <Button kind='quiet' onClick={() => void settings.useRehearsal()}>Use the demo</Button>
        </p>
      );
    case 'agent':
      return (
        <p class='tour-obstacle' data-testid='tour-obstacle'>
          Its agent, “{tour.stop.value?.agentId}”, is not in the registry any more: skip this stop.
        </p>
      );
    default:
      return null;
  }
}

const mark = 'tourLook';

/** Marks the last element that the selector finds, now and as the page changes. Returns what takes the mark away. */
export function lookAt(selector: string): () => void {
  let marked: HTMLElement | undefined;
  const find = (): void => {
    const found = [...document.querySelectorAll<HTMLElement>(selector)].at(-1);
    if (found === marked) return;
    unmark(marked);
    marked = found;
    if (!found) return;
    found.dataset[mark] = 'true';
    found.scrollIntoView?.({ block: 'nearest' });
  };
  const observer = new MutationObserver(find);
  observer.observe(document.body, { childList: true, subtree: true });
  find();
  return () => {
    observer.disconnect();
    unmark(marked);
  };
}

function unmark(element: HTMLElement | undefined): void {
  delete element?.dataset[mark];
}

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

interface ActionProps {
  readonly testId: string;
  readonly label: string;
  readonly onClick: () => void;
  readonly isPrimary?: boolean;
  readonly isOff?: boolean;
}

export function Action({ testId, label, onClick, isPrimary = false, isOff = false }: ActionProps): JSX.Element {
  return (
    <button
      type='button'
      class={isPrimary ? 'button is-primary' : 'button'}
      data-testid={testId}
      disabled={isOff}
      onClick={onClick}
    >
      {label}
    </button>
  );
}
