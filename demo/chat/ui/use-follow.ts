/** Keeps a growing text in view until the person looks elsewhere. */

import { type Signal, useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** How far from its end a text still counts as read to the end, in pixels. */
const nearEnd = 48;

/** What follows the end, and whether the person has left it. */
export interface Follow {
  readonly isAway: Signal<boolean>;
  /** Whether the view follows the end. */
  isFollowing(): boolean;
  /** Lets go, as when the person is shown something else. */
  leave(): void;
  /** Goes to the end and stays there. */
  toEnd(): void;
}

interface FollowOptions {
  readonly scroller: RefObject<HTMLElement | null>;
  readonly content: RefObject<HTMLElement | null>;
  /** Whether there is anything to follow. */
  readonly isOn: () => boolean;
}

/** Keeps the scroller at the end of its content. Scrolling up, or opening something, lets go; reaching the end takes hold again. */
export function useFollow({ scroller, content, isOn }: FollowOptions): Follow {
  const isAway = useSignal(false);
  /** The person moved in the text: stop following. */
  const isHeld = useRef(false);

  useEffect(() => {
    const [outer, inner] = [scroller.current, content.current];
    if (!outer || !inner) return undefined;
    let lastTop = 0;
    const distance = (): number => outer.scrollHeight - outer.scrollTop - outer.clientHeight;
    const onScroll = (): void => {
      if (distance() < nearEnd) {
        isHeld.current = false;
        isAway.value = false;
      } else if (outer.scrollTop < lastTop) isAway.value = true;
      lastTop = outer.scrollTop;
    };
    const onResize = (): void => {
      if (!isOn()) return;
      if (isHeld.current || isAway.value) isAway.value = distance() >= nearEnd;
      else outer.scrollTop = outer.scrollHeight;
    };
    const onClick = ({ target }: Event): void => {
      if (target instanceof Element && target.closest('[aria-expanded]')) isHeld.current = true;
    };
    const observer = new ResizeObserver(onResize);
    observer.observe(inner);
    observer.observe(outer);
    outer.addEventListener('scroll', onScroll, { passive: true });
    inner.addEventListener('click', onClick, { capture: true });
    return () => {
      observer.disconnect();
      outer.removeEventListener('scroll', onScroll);
      inner.removeEventListener('click', onClick, { capture: true });
    };
  }, []);

  return {
    isAway,
    isFollowing: () => !isHeld.current && !isAway.peek(),
    leave: () => void (isHeld.current = true),
    toEnd() {
      isHeld.current = false;
      isAway.value = false;
      const outer = scroller.current;
      if (outer) outer.scrollTop = outer.scrollHeight;
    },
  };
}
