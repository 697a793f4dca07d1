import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** Returns the ref of a strip that scrolls sideways where its parts do not all fit: the one that is current stays in sight. */
export function useCurrentInView<T extends HTMLElement>(current: string): RefObject<T | null> {
  const strip = useRef<T | null>(null);
  useEffect(() => {
    const show = (): void => {
      const part = strip.current?.querySelector('[aria-pressed=true], [aria-current], [aria-selected=true]');
      part?.scrollIntoView?.({ block: 'nearest', inline: 'nearest' });
    };
    show();
    addEventListener('resize', show);
    return () => removeEventListener('resize', show);
  }, [current]);
  return strip;
}
