import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';

interface SaidProps {
  readonly traceId: string | undefined;
  /** Absent where it is not known what a provider said. */
  readonly saidOf: ((traceId: string) => Promise<string | undefined>) | undefined;
}

/** Returns the provider's own words. They are in the worker's memory alone: after a reload there are none. */
export function useSaid({ traceId, saidOf }: SaidProps): string | undefined {
  const said = useSignal<string | undefined>(undefined);
  useEffect(() => {
    if (traceId === undefined) return;
    void saidOf?.(traceId).then((text) => (said.value = text), () => undefined); // the callout shows the general advice
  }, [traceId]);
  return said.value;
}

/** Quotes the provider. */
export function Said({ text }: { text: string | undefined }): JSX.Element | null {
  if (text === undefined) return null;
  return <p class='callout-said' data-testid='callout-said'>The provider said: “{text}”</p>;
}
