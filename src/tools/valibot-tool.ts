/** Makes the tools of this package, whose schemas are valibot's: without an evaluator of JSON Schema. */

import type * as v from 'valibot';
import type { JsonSchema } from '../base/schema.ts';
import { makeTool, readOf, type ToolOptions } from './make-tool.ts';
import { readValibot } from './schema/read-valibot.ts';
import type { Tool } from './tool.ts';

type ValibotSchema = v.GenericSchema<unknown, unknown>;

/** Creates a tool as `defineTool` does. */
export function defineValibotTool<S extends ValibotSchema>(options: ToolOptions<S>): Tool {
  return makeTool<S, undefined>(options, readValibot);
}

/** The JSON Schema that shows the input to models. */
export function paramsSchemaOf(toolId: string, input: ValibotSchema): JsonSchema {
  return readOf(toolId, input, { read: readValibot }).jsonSchema;
}
