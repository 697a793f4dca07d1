/** `prompts/list` and `prompts/get`. */

import * as v from 'valibot';
import { parse } from '../../../../src/base/parse.ts';
import { ContentBlock } from '../../../../src/tools/content.ts';
import { invalidParams, RpcError } from '../rpc-error.ts';
import { listedPart, pageOf } from './page.ts';
import type { McpPrompt, McpPrompts } from './prompt.ts';
import { defined, inRpc, maxContentLength, tooLong } from './read-resource.ts';
import type { McpReader } from './reader.ts';

/** The longest value of an argument, in UTF-16 code units. */
export const maxArgumentLength = 16_384;

/** A prompt in a listing. */
export interface WirePrompt {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly arguments?: { readonly name: string; readonly description?: string; readonly required?: boolean }[];
}

/** The messages of a prompt. */
export interface WireMessages {
  readonly [key: string]: unknown;
  readonly description: string;
  readonly messages: { readonly role: 'user' | 'assistant'; readonly content: ContentBlock }[];
}

/** Returns the prompts of the caller. */
export async function promptsOf(prompts: McpPrompts, reader: McpReader): Promise<readonly McpPrompt[]> {
  return typeof prompts === 'function' ? await prompts(reader) : prompts;
}

/** Returns a page of the prompts of the caller. */
export async function listPrompts(
  prompts: McpPrompts,
  reader: McpReader,
  cursor: string | undefined,
): Promise<{ readonly prompts: WirePrompt[]; readonly nextCursor?: string }> {
  const { items, nextCursor } = await inRpc({}, async () => {
    const part = listedPart(await promptsOf(prompts, reader));
    return await pageOf([part], { listing: 'prompts', principal: reader.principal, cursor });
  });
  return { prompts: items.map(toWirePrompt), ...(nextCursor !== undefined && { nextCursor }) };
}

function toWirePrompt({ name, title, description, arguments: all }: McpPrompt): WirePrompt {
  const wired = all?.map((one) => {
    return { name: one.name, ...defined({ title: one.title, description: one.description, required: one.required }) };
  });
  return { name, description, ...defined({ title, arguments: wired }) };
}

/** Returns the prompt of this name. @throws RpcError -32602 where the caller has none. */
export async function findPrompt(prompts: McpPrompts, name: string, reader: McpReader): Promise<McpPrompt> {
  const found = (await promptsOf(prompts, reader)).find((prompt) => prompt.name === name);
  if (found) return found;
  throw new RpcError(invalidParams, 'Prompt not found', { name: name.slice(0, 256), reason: 'unknown_prompt' });
}

/** Makes the messages of a prompt. @throws RpcError -32602 for arguments that it does not take. */
export async function getPrompt(
  prompt: McpPrompt,
  given: Readonly<Record<string, string>>,
  reader: McpReader,
): Promise<WireMessages> {
  const messages = await prompt.messages(checkArguments(prompt, given), reader);
  const wired = parse(
    Messages,
    messages.map(({ role, content }) => {
      return { role, content: typeof content === 'string' ? { type: 'text', text: content } : content };
    }),
    { what: 'the messages of the prompt' },
  );
  if (JSON.stringify(wired).length > maxContentLength) throw tooLong('prompt');
  return { description: prompt.description, messages: wired };
}

const Messages = v.pipe(
  v.array(v.strictObject({ role: v.picklist(['user', 'assistant']), content: ContentBlock })),
  v.minLength(1),
  v.maxLength(100),
);

function checkArguments(
  { arguments: declared = [] }: McpPrompt,
  given: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(given)) {
    if (!declared.some((one) => one.name === name)) throw badArgument(name, 'is not declared by the prompt');
    if (value.length > maxArgumentLength) throw badArgument(name, `is longer than ${maxArgumentLength}`);
  }
  const missing = declared.find(({ name, required }) => required === true && given[name] === undefined);
  if (missing) throw badArgument(missing.name, 'is missing');
  return { ...given };
}

function badArgument(name: string, why: string): RpcError {
  const argument = name.slice(0, 256);
  return new RpcError(invalidParams, `Cannot get the prompt: its argument "${argument}" ${why}`, {
    argument,
    reason: 'invalid_argument',
  });
}
