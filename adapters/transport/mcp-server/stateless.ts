/** A stateless MCP server: the loaded set is passed as a handle, and the list of tools depends only on the caller. */

import type { InferOutput } from 'valibot';
import { toData } from '../../../src/base/errors.ts';
import { parse } from '../../../src/base/parse.ts';
import type { Principal } from '../../../src/base/principal.ts';
import { callActive, type CallContext } from './call.ts';
import { type McpTool, toMcpTool, toolCallDefinition, ToolCallInput, withToolset } from './definitions.ts';
import type { McpHost } from './host.ts';
import { type CallResult, toErrorResult } from './result.ts';
import { type Offer, openToolbox, toolCallName } from './toolbox.ts';

/** The server for one request. */
export interface StatelessServer {
  list(): readonly McpTool[];
  call(request: CallRequest, context: CallContext): Promise<CallResult>;
}

/** The parameters of `tools/call`. */
export interface CallRequest {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
}

/** The key of `_meta` under which a client may send the handle with any call. */
export const toolsetKey = 'pinnace/toolset';

/** Opens the server for one request. */
export function openStateless(
  host: McpHost,
  { catalogue, call }: Offer,
  principal: Principal,
): StatelessServer {
  const open = (handle: string | undefined) => openToolbox(catalogue, { host, principal, handle });
  return {
    list() {
      const four = open(undefined).discovery.definitions.map((definition) => withToolset(toMcpTool(definition)));
      return [...four, toolCallDefinition, ...catalogue.listed.map(({ definition }) => toMcpTool(definition))];
    },
    async call({ name, arguments: given = {}, _meta: meta = {} }, context) {
      if (name === toolCallName) {
        const requested = readToolCall(given);
        if ('content' in requested) return requested;
        const toolbox = open(requested.toolset ?? handleOf(meta));
        return await callActive({ name: requested.name, input: requested.arguments, nested: true }, {
          toolbox,
          call,
          context,
        });
      }
      const { handle, input } = splitToolset(given, catalogue.byName.get(name)?.definition.paramsSchema);
      const toolbox = open(handle ?? handleOf(meta));
      return await callActive({ name, input }, { toolbox, call, context });
    },
  };
}

function readToolCall(given: unknown): InferOutput<typeof ToolCallInput> | CallResult {
  try {
    return parse(ToolCallInput, given, { what: `the input of tool "${toolCallName}"` });
  } catch (error) {
    return toErrorResult(toData(error));
  }
}

/** Takes the handle out of the arguments, unless the tool takes something of this name itself. */
function splitToolset(
  given: Readonly<Record<string, unknown>>,
  schema: Readonly<Record<string, unknown>> | undefined,
): { readonly handle: string | undefined; readonly input: Readonly<Record<string, unknown>> } {
  const { toolset, ...input } = given;
  const takesIt = Object.hasOwn(schema?.['properties'] ?? {}, 'toolset');
  return takesIt || typeof toolset !== 'string' ? { handle: undefined, input: given } : { handle: toolset, input };
}

function handleOf(meta: Readonly<Record<string, unknown>>): string | undefined {
  const handle = meta[toolsetKey];
  return typeof handle === 'string' ? handle : undefined;
}
