/** Components that are fetched apart from the page's first chunk. */

import { signal } from '@preact/signals';
import type { ComponentType, JSX } from 'preact';

/** A component that shows a stand-in, or nothing, until it has been fetched. */
export interface Lazy<P> {
  (props: P): JSX.Element | null;
  /** Fetches it, so that it is there when wanted. A failure is tried again when the component is shown. */
  preload(): Promise<void>;
}

/** Gives a component whose code is fetched by `load`. */
export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
  StandIn?: ComponentType<P>,
): Lazy<P> {
  const loaded = signal<{ readonly Component: ComponentType<P> } | undefined>();
  async function preload(): Promise<void> {
    try {
      loaded.value ??= { Component: await load() };
    } catch {
      // Offline, or a new version was published meanwhile: the next showing tries again.
    }
  }
  function LazyComponent(props: P): JSX.Element | null {
    if (loaded.value) return <loaded.value.Component {...props} />;
    void preload();
    return StandIn ? <StandIn {...props} /> : null;
  }
  return Object.assign(LazyComponent, { preload });
}
