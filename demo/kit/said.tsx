import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';

interface SaidProps {
  readonly traceId: string;
  readonly saidOf: (traceId: string) => Promise<string | undefined>;
}

/** The provider's own words. They are in the worker's memory alone: after a reload there are none. */
export function Said({ traceId, saidOf }: SaidProps): JSX.Element | null {
  const said = useSignal<string | undefined>(undefined);
  useEffect(() => {
    void saidOf(traceId).then((text) => (said.value = text), () => undefined); // the advice stands without them
  }, [traceId]);
  if (said.value === undefined) return null;
  return <p class='callout-said' data-testid='callout-said'>The provider said: “{said.value}”</p>;
}
