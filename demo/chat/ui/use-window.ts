/** Draws the visible part of a long chat, and keeps it in place while heights become known. */

import { type Signal, untracked, useComputed, useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Chat } from '../state/chat.ts';
import {
  createHeights,
  type Heights,
  type Piece,
  piecesOf,
  type Range,
  type Sight,
  wholeUpTo,
} from '../state/thread-window.ts';

/** What is drawn. */
export interface ThreadWindow {
  readonly pieces: readonly Piece[];
  /** Brings a message into the middle of what is in sight. */
  readonly reveal: (place: number) => void;
  /** Scrolls the start or the end of a message into view and focuses it. */
  readonly goTo: (place: number, edge: 'start' | 'end') => void;
}

interface WindowOptions {
  readonly chat: Chat;
  readonly scroller: RefObject<HTMLElement | null>;
  readonly content: RefObject<HTMLElement | null>;
  /** Whether the view follows the end. */
  readonly isFollowing: () => boolean;
}

/** Messages to be drawn: a stretch, and single ones outside it. */
interface Drawn extends Range {
  readonly stored: readonly number[];
}

/** Where a message was in the window, to be put there again. */
interface Anchor {
  readonly element: HTMLElement;
  readonly top: number;
}

/** A message to be brought into sight as soon as it is drawn. */
interface Wanted {
  readonly place: number;
  readonly block: ScrollLogicalPosition;
  readonly hasFocus: boolean;
}

/** How much is drawn above and below of what is in sight, as a share of it. */
const overscan = 0.75;

/** Returns the window of a chat, at its end. */
export function useWindow({ chat, scroller, content, isFollowing }: WindowOptions): ThreadWindow {
  const heights = useMemo(createHeights, []);
  const sight = useSignal<Sight>({ top: Infinity, height: globalThis.innerHeight });
  const stored = useSignal<readonly number[]>([]);
  const measured = useSignal(0);
  const isWhole = usePrinting();
  const anchor = useRef<Anchor | undefined>(undefined);
  const wanted = useRef<Wanted | undefined>(undefined);
  const latest = useRef<Drawn>({ from: 0, to: 0, stored: [] });
  const drawn = useComputed((): Drawn => {
    const messages = chat.messages.value;
    untracked(() => heights.take(messages));
    const isAll = isWhole.value || messages.length <= wholeUpTo;
    void measured.value; // heights that have become known may let more come into sight
    const next = isAll ? { from: 0, to: messages.length } : around(heights, sight.value);
    const now = { ...next, stored: stored.value };
    return isSame(now, latest.current) ? latest.current : (latest.current = now);
  });

  useLayoutEffect(() => {
    const [outer, inner] = [scroller.current, content.current];
    if (!outer || !inner) return undefined;
    const onScroll = (): void => {
      anchor.current = firstInSight(outer, inner);
      stored.value = placesInUse(inner, stored.peek());
      sight.value = { top: outer.scrollTop, height: outer.clientHeight };
    };
    const observer = new ResizeObserver(() => settle());
    observer.observe(inner);
    outer.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      observer.disconnect();
      outer.removeEventListener('scroll', onScroll);
    };
  }, []);

  /** What was measured may have moved what is in sight: it is put back. */
  function settle(): void {
    const [outer, inner] = [scroller.current, content.current];
    if (!outer || !inner) return;
    if (measureAll(inner, heights)) measured.value++;
    const target = wanted.current && elementAt(inner, wanted.current.place);
    if (wanted.current && target) {
      const { block, hasFocus } = wanted.current;
      wanted.current = undefined;
      target.scrollIntoView({ block });
      if (hasFocus) target.focus({ preventScroll: true });
    } else if (!isFollowing() && anchor.current?.element.isConnected) {
      const moved = topIn(outer, anchor.current.element) - anchor.current.top;
      if (Math.abs(moved) >= 1) outer.scrollTop += moved;
    }
    anchor.current = firstInSight(outer, inner);
  }

  const { from, to, stored: others } = drawn.value;
  useLayoutEffect(() => {
    // What is drawn first holds nothing in its place: the observer measures it, when its frame has laid it out anyway.
    if (anchor.current || wanted.current) settle();
  }, [drawn.value]);
  const count = chat.messages.value.length;
  const places = new Set([...others.filter((place) => place < count), ...placesFrom(from, to)]);
  function show(next: Wanted): void {
    const height = scroller.current?.clientHeight ?? 0;
    wanted.current = next;
    if (content.current) stored.value = placesInUse(content.current, stored.peek());
    sight.value = { top: Math.max(0, heights.topOf(next.place) - height / 2), height };
    settle();
  }
  return {
    pieces: piecesOf(places, { count, heights }),
    reveal: (place) => show({ place, block: 'center', hasFocus: false }),
    goTo: (place, edge) => show({ place, block: edge, hasFocus: true }),
  };
}

/** A chat that opens is drawn as far as it is in sight. The scroll to its end then draws the rest, in a task of its own. */
function around(heights: Heights, { top, height }: Sight): Range {
  const more = top === Infinity ? 0 : height * overscan;
  return heights.within({ top: top - more, height: height + 2 * more });
}

function isSame(a: Drawn, b: Drawn): boolean {
  return a.from === b.from && a.to === b.to && a.stored === b.stored;
}

function placesFrom(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}

/** On paper everything is drawn. */
function usePrinting(): Signal<boolean> {
  const isPrinting = useSignal(false);
  useLayoutEffect(() => {
    const start = (): void => void (isPrinting.value = true);
    const end = (): void => void (isPrinting.value = false);
    addEventListener('beforeprint', start);
    addEventListener('afterprint', end);
    return () => {
      removeEventListener('beforeprint', start);
      removeEventListener('afterprint', end);
    };
  }, []);
  return isPrinting;
}

const messagesIn = (content: HTMLElement): HTMLElement[] => [
  ...content.querySelectorAll<HTMLElement>(':scope > [aria-posinset]'),
];

const placeOf = (message: Element): number => Number(message.getAttribute('aria-posinset')) - 1;

function elementAt(content: HTMLElement, place: number): HTMLElement | null {
  return content.querySelector<HTMLElement>(`:scope > [aria-posinset="${place + 1}"]`);
}

function measureAll(content: HTMLElement, heights: Heights): boolean {
  return messagesIn(content).map((element) => heights.measure(placeOf(element), element.offsetHeight)).some(Boolean);
}

function firstInSight(scroller: HTMLElement, content: HTMLElement): Anchor | undefined {
  const element = messagesIn(content).find((one) => topIn(scroller, one) + one.offsetHeight > 0);
  return element && { element, top: topIn(scroller, element) };
}

function topIn(scroller: HTMLElement, { offsetTop }: HTMLElement): number {
  return offsetTop - scroller.scrollTop;
}

/** The messages that hold the focus or an end of the selection. They stay drawn at any scroll position. The same list while nothing changes. */
function placesInUse(content: HTMLElement, before: readonly number[]): readonly number[] {
  const selection = getSelection();
  const ends = selection && !selection.isCollapsed ? [selection.anchorNode, selection.focusNode] : [];
  const places = [document.activeElement, ...ends].flatMap((node) => {
    const element = node instanceof Element ? node : node?.parentElement;
    const message = content.contains(element ?? null) ? element?.closest('[aria-posinset]') : undefined;
    return message ? [placeOf(message)] : [];
  });
  return places.length === before.length && places.every((place, i) => place === before[i]) ? before : places;
}
