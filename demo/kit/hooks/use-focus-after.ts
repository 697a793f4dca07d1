/** Keeps the focus in place when the focused element is removed. */

import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** Returns a ref for the element that replaces a question: it takes the focus that the question's buttons lost. */
export function useFocusAfter<E extends HTMLElement>(isAsking: boolean): RefObject<E | null> {
  const said = useRef<E>(null);
  const wasAsking = useRef(false);
  useEffect(() => {
    if (wasAsking.current && !isAsking && isLost(document.activeElement)) said.current?.focus();
    wasAsking.current = isAsking;
  }, [isAsking]);
  return said;
}

/** Whether nothing has the focus. */
function isLost(active: Element | null): boolean {
  return active === null || active === document.body;
}
