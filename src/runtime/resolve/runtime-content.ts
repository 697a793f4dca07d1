/** What a runtime does with the prompts and resources of MCP servers. Types only. */

import type { RuntimePrompts, RuntimeResources } from '../../contracts/mcp/content.ts';
import type { ReadInRun } from '../attachments/files.ts';

/** Prompts and resources, for callers and for runs. */
export interface RuntimeContent {
  readonly prompts: RuntimePrompts;
  readonly resources: RuntimeResources;
  readonly readInRun: ReadInRun;
}
