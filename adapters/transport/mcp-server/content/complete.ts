/** `completion/complete`: values for an argument of a prompt, and for a variable of a resource template. */

import { invalidParams, RpcError } from '../rpc-error.ts';
import { findPrompt } from './get-prompt.ts';
import type { McpPrompts } from './prompt.ts';
import type { McpReader } from './reader.ts';
import type { McpCompletion, McpResources } from './resource.ts';

/** The most values of an answer: MCP allows no more. */
const maxValues = 100;
const maxValueLength = 1024;

/** What is completed. */
export type CompletionRef =
  | { readonly type: 'ref/prompt'; readonly name: string }
  | { readonly type: 'ref/resource'; readonly uri: string };

/** The answer. */
export interface Completed {
  readonly [key: string]: unknown;
  readonly completion: { readonly values: string[]; readonly total: number; readonly hasMore: boolean };
}

/**
 * Returns values; none where nothing completes the argument.
 *
 * @throws RpcError -32602 for an unknown prompt, template or argument, and a value that is too long.
 */
export async function complete(
  { resources = [], prompts = [] }: { readonly resources?: readonly McpResources[]; readonly prompts?: McpPrompts },
  { ref, wanted }: { readonly ref: CompletionRef; readonly wanted: McpCompletion },
  reader: McpReader,
): Promise<Completed> {
  if ([wanted.value, ...Object.values(wanted.others)].some(({ length }) => length > maxValueLength)) {
    throw refused('its value is too long', 'value_too_long');
  }
  const values = ref.type === 'ref/prompt'
    ? await ofPrompt(prompts, { name: ref.name, wanted }, reader)
    : await ofTemplate(resources, { uri: ref.uri, wanted }, reader);
  const sent = values.slice(0, maxValues);
  return { completion: { values: sent, total: values.length, hasMore: values.length > sent.length } };
}

async function ofPrompt(
  prompts: McpPrompts,
  { name, wanted }: { readonly name: string; readonly wanted: McpCompletion },
  reader: McpReader,
): Promise<readonly string[]> {
  const prompt = await findPrompt(prompts, name, reader);
  const argument = prompt.arguments?.find((one) => one.name === wanted.argument);
  if (!argument) throw refused('the prompt has no such argument', 'unknown_argument');
  return await argument.complete?.(wanted, reader) ?? [];
}

async function ofTemplate(
  resources: readonly McpResources[],
  { uri, wanted }: { readonly uri: string; readonly wanted: McpCompletion },
  reader: McpReader,
): Promise<readonly string[]> {
  for (const provider of resources) {
    const template = provider.templates?.find(({ uriTemplate }) => uriTemplate === uri);
    if (template) return await provider.complete?.(template, wanted, reader) ?? [];
  }
  throw refused('there is no such template', 'unknown_template');
}

function refused(why: string, reason: string): RpcError {
  return new RpcError(invalidParams, `Cannot complete the argument: ${why}`, { reason });
}
