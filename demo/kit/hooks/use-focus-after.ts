/** Keeps the focus in its place when what had it is gone. */

import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** Gives a ref for what stands in the place of a question: it gets the focus that was lost with the question's buttons. */
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
