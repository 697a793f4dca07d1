/** A fork that is to be made. Types only. */

import type { Cut } from './cut.ts';
import type { ForkOptions } from './fork-options.ts';
import type { ParentRun } from './parent-run.ts';

/** What is forked, where, and how. */
export interface ForkPlan {
  readonly parent: ParentRun;
  readonly cut: Cut;
  readonly options: ForkOptions;
  readonly changed: readonly string[];
  readonly effects: 'dry' | 'live';
  /** Whether it continues a lost run, which happens once. */
  readonly isContinued: boolean;
}
