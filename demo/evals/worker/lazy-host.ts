/** The test cases, whose code is fetched with the first call. */

import { loadOnce, onUse } from '../../../src/base/load-once.ts';
import type { EvalsControl } from '../../control/evals-control.ts';
import type { EvalsHostOptions } from './host.ts';

/** Returns the control. A call rejects when loading fails, and the next call tries again. */
export function lazyEvals(options: EvalsHostOptions): EvalsControl {
  const host = loadOnce(async () => (await import('./host.ts')).createEvalsHost(options));
  return onUse(host, 'list', 'add', 'remove', 'run', 'files');
}
