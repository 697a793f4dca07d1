/** Moves what is larger than its place by dragging it with a mouse; fingers and wheels scroll by themselves. */

import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** How far a mouse may move while it presses, in pixels. */
const slack = 4;

/** Returns the ref of the element that scrolls. */
export function useDragScroll(): RefObject<HTMLDivElement | null> {
  const scroller = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = scroller.current;
    if (!element) return undefined;
    const ended = new AbortController();
    element.addEventListener('pointerdown', (event) => drag(element, event), { signal: ended.signal });
    return () => ended.abort();
  }, []);
  return scroller;
}

function drag(element: HTMLElement, { pointerType, button, pointerId, clientX, clientY }: PointerEvent): void {
  if (pointerType !== 'mouse' || button !== 0) return;
  const { scrollLeft, scrollTop } = element;
  const done = new AbortController();
  const { signal } = done;
  const onMove = (event: PointerEvent): void => {
    const [x, y] = [event.clientX - clientX, event.clientY - clientY];
    if (Math.hypot(x, y) < slack) return;
    if (!element.hasPointerCapture(pointerId)) element.setPointerCapture(pointerId); // from here on no click follows
    element.scrollTo(scrollLeft - x, scrollTop - y);
  };
  element.addEventListener('pointermove', onMove, { signal });
  for (const end of ['pointerup', 'pointercancel', 'lostpointercapture'] as const) {
    globalThis.addEventListener(end, () => done.abort(), { signal });
  }
}
