/** The sample tools. */

import type { Watchable } from '../../src/contracts/index.ts';
import type { Storage, Tool } from '../../src/index.ts';
import { calculatorTool } from '../../src/tools/builtin/calculator.ts';
import { currentTimeTool } from '../../src/tools/builtin/current-time.ts';
import { type CallTree, sampleTreeTools } from '../tree/worker/tools.ts';
import { convertUnitsTool } from './convert-units.ts';
import { dateMathTool } from './date-math.ts';
import { deskTools } from './desk.ts';
import { flakyTool } from './flaky.ts';
import { notesTools } from './notes.ts';
import { textStatsTool } from './text-stats.ts';

/** Options of {@link sampleTools}. */
interface SampleToolsOptions {
  readonly storage: Storage & Partial<Watchable>;
  readonly now?: () => number;
  /** Calls a tool at the tree: the one that a page shows, or that of a tenant (`storedTrees`). */
  readonly callTree: CallTree;
}

/** Returns the sample tools, built-in ones first. */
export function sampleTools(options: SampleToolsOptions): Tool[] {
  const { storage, now = Date.now, callTree } = options;
  return [
    currentTimeTool({ now }),
    calculatorTool(),
    dateMathTool({ now }),
    convertUnitsTool(),
    textStatsTool(),
    ...notesTools(storage, { now }),
    flakyTool(),
    ...deskTools(),
    ...sampleTreeTools(callTree),
  ];
}
