/** Trials of tools, fetched with the first one: most visits make none. */

import { browserEgress } from '../../../adapters/egress/browser.ts';
import type { TrialControl } from '../../control/trial-control.ts';
import type { TrialOptions } from './trials.ts';

/** Returns what fetches them. */
export function lazyTrials(
  options: Pick<TrialOptions, 'secrets' | 'storage' | 'sandbox'>,
): () => Promise<TrialControl> {
  return async () => {
    const { createTrials } = await import('./trials.ts');
    return createTrials({ ...options, egress: browserEgress() });
  };
}
