/** All tools of the sample agents. */

import type { Storage, Tool } from '../../src/index.ts';
import { calculatorTool } from '../../src/tools/builtin/calculator.ts';
import { currentTimeTool } from '../../src/tools/builtin/current-time.ts';
import { convertUnitsTool } from './convert-units.ts';
import { dateMathTool } from './date-math.ts';
import { deskTools } from './desk.ts';
import { flakyTool } from './flaky.ts';
import { notesTools } from './notes.ts';
import { textStatsTool } from './text-stats.ts';

/** Options of {@link sampleTools}. */
export interface SampleToolsOptions {
  /** Where the notes are kept. */
  readonly storage: Storage;
  readonly now?: () => number;
}

/** Gives the sample tools, built-in ones first. */
export function sampleTools({ storage, now = Date.now }: SampleToolsOptions): Tool[] {
  return [
    currentTimeTool({ now }),
    calculatorTool(),
    dateMathTool({ now }),
    convertUnitsTool(),
    textStatsTool(),
    ...notesTools(storage, { now }),
    flakyTool(),
    ...deskTools(),
  ];
}
