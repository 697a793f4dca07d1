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
import { readDefinition } from './read-definition.ts';

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

/**
 * The names of a server's tools for models, by their own: `alias__tool`. A name that providers would not accept is spelled in their
 * letters, `a.b` as `alias__a_b`, and cut to their length; where that is the name of another tool, digits of its own name follow.
 */
export function exposedNames(alias: string, names: readonly string[]): ReadonlyMap<string, string> {
  const spelled = names.map((name) => `${alias}__${name.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`);
  const count = Map.groupBy(spelled, (exposed) => exposed);
  const taken = new Set<string>();
  const exposed = names.flatMap((name, i) => {
    const plain = spelled[i]!; // one for each name
    const isPlain = plain === `${alias}__${name}` || count.get(plain)?.length === 1;
    const digits = isPlain && plain.length <= maxName ? '' : `_${digitsOf(name)}`;
    const full = `${plain.slice(0, maxName - digits.length)}${digits}`;
    if (taken.has(full) || !v.is(ToolName, full)) return [];
    taken.add(full);
    return [[name, full] as const];
  });
  return new Map(exposed);
}

const maxName = 64;

/** 8 hexadecimal digits that follow from a name (FNV-1a). */
function digitsOf(name: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/** Returns the definitions of a server's pin, in its order. What cannot be offered under a name that models can say is left out. */
export async function pinnedDefinitions(server: McpServer): Promise<readonly PinnedDefinition[]> {
  const tools = server.pinned?.tools ?? [];
  const names = exposedNames(server.alias, tools.map(({ definition }) => definition.name));
  const all = await Promise.all(tools.map(async (pinned) => {
    const definition = toDefinition(server, pinned, names.get(pinned.definition.name));
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
function toDefinition(
  { id, alias, secret, auth }: McpServer,
  pinned: PinnedTool,
  name: string | undefined,
): ToolDefinition | undefined {
  const raw = v.safeParse(RawDefinition, readDefinition(pinned.definition).definition);
  if (!raw.success || name === undefined) return undefined;
  const { annotations = {}, inputSchema, outputSchema } = raw.output;
  const title = (raw.output.title ?? annotations.title)?.slice(0, 200);
  const description = raw.output.description || title || raw.output.name;
  const definition = v.safeParse(ToolDefinition, {
    id: name,
    name,
    ...(title !== undefined && { title }),
    type: 'mcp',
    description: description.slice(0, 4096),
    paramsSchema: inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    ...policyOf(pinned, annotations),
    category: alias,
    secrets: secret === undefined || auth ? [] : [secret],
    config: { serverId: id, tool: raw.output.name, fingerprint: pinned.fingerprint },
  });
  return definition.success ? { ...definition.output, description } : undefined; // a person has seen how long it is
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
