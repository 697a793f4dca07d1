/** The tree's tools as definitions, for whatever offers them: the run, MCP, a page. */

import * as v from 'valibot';
import { ToolDefinition } from '../../base/schema.ts';
import { paramsSchemaOf } from '../../tools/make-tool.ts';
import { exportTool } from './transfer/export-tool.ts';
import { importTool } from './transfer/import-tool.ts';
import { readTools } from './read-tools.ts';
import { searchTool } from './search-tool.ts';
import type { ToolSpec } from './tool-spec.ts';
import { undoTool } from './undo-tool.ts';
import { viewTools } from './view-tools.ts';
import { writeTools } from './write-tools.ts';

/** All tools, by name. */
export const toolSpecs: ReadonlyMap<string, ToolSpec> = new Map(
  [...readTools, searchTool, ...viewTools, ...writeTools, exportTool, importTool, undoTool].map((
    spec,
  ) => [spec.name, spec]),
);

let definitions: readonly ToolDefinition[] | undefined;

/** The definitions, created on first use. */
export function toolDefinitions(): readonly ToolDefinition[] {
  definitions ??= [...toolSpecs.values()].map(({ name, description, annotations, input }) =>
    v.parse(ToolDefinition, {
      id: name,
      name,
      type: 'builtin',
      description,
      annotations,
      category: 'tree',
      paramsSchema: paramsSchemaOf(name, input),
    })
  );
  return definitions;
}
