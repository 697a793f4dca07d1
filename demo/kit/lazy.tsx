/** Components that are fetched apart from the page's first chunk. */

import { signal } from '@preact/signals';
import type { ComponentType, JSX } from 'preact';

/** A component that shows a placeholder, or nothing, until it is loaded. */
export interface Lazy<P> {
  (props: P): JSX.Element | null;
  /** Fetches it, so that it is there when wanted. A failure is tried again when the component is shown. */
  preload(): Promise<void>;
}

/** The placeholder of a component. */
interface Instead<P> {
  /** While it is fetched. */
  readonly StandIn?: ComponentType<P>;
  /** When it could not be fetched; without it, nothing is there, and the next showing tries again. */
  readonly Failure?: ComponentType<P & { readonly onRetry: () => void }>;
}

/** Creates a component whose code is fetched by `load`. */
export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
  { StandIn, Failure }: Instead<NoInfer<P>> = {},
): Lazy<P> {
  const loaded = signal<{ readonly Component: ComponentType<P> } | undefined>();
  const hasFailed = signal(false);
  /** Returns whether it is there. It is not while offline, or when a new version was published meanwhile. */
  async function fetchIt(): Promise<boolean> {
    try {
      loaded.value ??= { Component: await load() };
      return true;
    } catch {
      return false;
    }
  }
  async function show(): Promise<void> {
    if (!await fetchIt()) hasFailed.value = true;
  }
  /** Shows the component again, which fetches it. */
  function retry(): void {
    hasFailed.value = false;
  }
  function LazyComponent(props: P): JSX.Element | null {
    if (loaded.value) return <loaded.value.Component {...props} />;
    if (Failure && hasFailed.value) return <Failure {...props} onRetry={retry} />;
    void show();
    return StandIn ? <StandIn {...props} /> : null;
  }
  return Object.assign(LazyComponent, { preload: async () => void await fetchIt() });
}
