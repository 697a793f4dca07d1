/** What a runtime does with the prompts, resources and apps of MCP servers. Types only. */

import type { RuntimeApps } from '../../contracts/mcp/apps.ts';
import type { RuntimePrompts, RuntimeResources } from '../../contracts/mcp/content.ts';
import type { ReadInRun } from '../attachments/files.ts';

/** Prompts, resources and apps, for callers and for runs. */
export interface RuntimeContent {
  readonly prompts: RuntimePrompts;
  readonly resources: RuntimeResources;
  readonly apps: RuntimeApps;
  readonly readInRun: ReadInRun;
}
