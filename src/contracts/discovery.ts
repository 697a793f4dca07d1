/** The seam between runs and discovery. `Tool` is the tool type of `src/tools`, which is above this floor. */

import type { PinnaceError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';

/** Discovery for runs. */
export interface Discovery<Tool> {
  /** The discovery tools over no tools, as manifests list them. Only agents that name them have discovery. */
  readonly tools: readonly Tool[];
  /** Returns the discovery tools over the tools of one run. The same array is indexed once. */
  open(tools: readonly Tool[], run: DiscoveringRun): OpenDiscovery<Tool>;
}

/** A run with discovery. */
export interface DiscoveringRun {
  /** The names that are active from the start. */
  readonly active: readonly string[];
  readonly principal: Principal;
  readonly chatId: string;
  /** Returns whether a tool may be found and used now. */
  readonly isAllowed: (name: string) => boolean;
}

/** Discovery in one run. */
export interface OpenDiscovery<Tool> {
  readonly tools: readonly Tool[];
  /** Activates the tools that an earlier request has loaded. */
  restore(): Promise<void>;
  activeNames(): readonly string[];
  /** Returns the error for a call of a tool that is not active. */
  notActive(name: string): PinnaceError;
}
