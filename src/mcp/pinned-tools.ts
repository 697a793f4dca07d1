/** From a pin to tool definitions: everything that a model sees of an MCP tool is made here, of what was approved alone. */

import * as v from 'valibot';
import {
  JsonSchema,
  type McpServer,
  type PinnedTool,
  ToolAnnotations,
  ToolDefinition,
  ToolName,
} from '../base/schema.ts';
import { toolUi } from './apps/tool-ui.ts';
import { fingerprintOf } from './fingerprint.ts';

/** A tool of a pin, as the tool set of an agent takes it. */
export interface PinnedDefinition {
  readonly definition: ToolDefinition;
  readonly pinned: PinnedTool;
  /** Whether the definition is the one that its fingerprint is of. */
  readonly genuine: boolean;
  /** Whether models may call it. */
  readonly forModel: boolean;
  /** Whether apps of its server may call it. */
  readonly forApp: boolean;
}

/** What is read of a raw definition; all else only counts for the fingerprint. Broken annotations are as good as none. */
const RawDefinition = v.object({
  name: v.string(),
  title: v.optional(v.string()),
  description: v.optional(v.string()),
  inputSchema: JsonSchema,
  outputSchema: v.optional(JsonSchema),
  annotations: v.fallback(v.optional(v.looseObject({ ...ToolAnnotations.entries, title: v.optional(v.string()) })), {}),
});

/** The name of a tool for models: `alias__tool`. `undefined` when no provider would accept it. */
export function exposedName(alias: string, name: string): string | undefined {
  const exposed = `${alias}__${name}`;
  return v.is(ToolName, exposed) ? exposed : undefined;
}

/** Returns the definitions of a server's pin, in its order. What cannot be offered under a name that models can say is left out. */
export async function pinnedDefinitions(server: McpServer): Promise<readonly PinnedDefinition[]> {
  const all = await Promise.all((server.pinned?.tools ?? []).map(async (pinned) => {
    const definition = toDefinition(server, pinned);
    const genuine = await fingerprintOf(pinned.definition) === pinned.fingerprint;
    const { forModel, forApp } = toolUi(pinned.definition);
    return definition && { definition, pinned, genuine, forModel, forApp };
  }));
  return all.filter((one) => one !== undefined);
}

/**
 * Returns the definition of one pinned tool; `undefined` when it cannot be offered. Its `config` has the fingerprint, so that an
 * approval of a call is bound to the whole raw definition.
 */
export function toDefinition({ id, alias, secret, auth }: McpServer, pinned: PinnedTool): ToolDefinition | undefined {
  const raw = v.safeParse(RawDefinition, pinned.definition);
  const name = exposedName(alias, pinned.definition.name);
  if (!raw.success || name === undefined) return undefined;
  const { annotations = {}, inputSchema, outputSchema } = raw.output;
  const title = raw.output.title ?? annotations.title;
  const definition = v.safeParse(ToolDefinition, {
    id: name,
    name,
    ...(title !== undefined && { title }),
    type: 'mcp',
    description: raw.output.description || title || raw.output.name,
    paramsSchema: inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    ...policyOf(pinned, annotations),
    category: alias,
    secrets: secret === undefined || auth ? [] : [secret],
    config: { serverId: id, tool: raw.output.name, fingerprint: pinned.fingerprint },
  });
  return definition.success ? definition.output : undefined;
}

/**
 * What calls may do. The server's hints are claims: they can only make it stricter than the person who approved the tool has said,
 * and without any statement the strictest holds, as MCP defines it.
 */
function policyOf(
  { effect = 'destructive' }: PinnedTool,
  { readOnlyHint, destructiveHint, idempotentHint, openWorldHint }: v.InferOutput<typeof ToolAnnotations>,
): Pick<ToolDefinition, 'annotations' | 'approval'> {
  const reads = effect === 'read' && readOnlyHint !== false && destructiveHint !== true;
  const destroys = !reads && (effect !== 'write' || destructiveHint === true);
  return {
    annotations: {
      readOnlyHint: reads,
      destructiveHint: destroys,
      idempotentHint: reads && idempotentHint !== false,
      openWorldHint: openWorldHint !== false,
    },
    approval: reads ? 'mutating' : 'always',
  };
}
