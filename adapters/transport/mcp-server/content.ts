/** `resources/list`, `resources/templates/list` and `resources/read`. */

import * as v from 'valibot';
import { toBase64 } from '../../../src/base/base64.ts';
import { PinnaceError, toPinnaceError } from '../../../src/base/errors.ts';
import { parse } from '../../../src/base/parse.ts';
import { ContentBlock } from '../../../src/tools/content.ts';
import {
  listedPart,
  type McpCompletion,
  type McpPrompt,
  type McpPrompts,
  type McpReader,
  type McpResource,
  type McpResourceContent,
  type McpResources,
  type McpResourceTemplate,
  pageOf,
} from './host.ts';

const maxUriLength = 2048;
const maxContentLength = 5_242_880;

export async function listResources(
  providers: readonly McpResources[],
  reader: McpReader,
  cursor: string | undefined,
): Promise<{ readonly resources: McpResource[]; readonly nextCursor?: string }> {
  const parts = providers.flatMap((provider) => provider.list ? [listOf(provider, reader)] : []);
  const { items, nextCursor } = await inRpc(
    {},
    () => pageOf(parts, { listing: 'resources', principal: reader.principal, cursor }),
  );
  return { resources: items.map(toResource), ...(nextCursor !== undefined && { nextCursor }) };
}

function listOf(provider: McpResources, reader: McpReader): Parameters<typeof pageOf<McpResource>>[0][number] {
  return async (page) => await provider.list?.(reader, page) ?? { items: [] };
}

function toResource({ uri, name, title, description, mimeType, size }: McpResource): McpResource {
  return { uri, name, ...defined({ title, description, mimeType, size }) };
}

export async function listTemplates(
  providers: readonly McpResources[],
  reader: McpReader,
  cursor: string | undefined,
): Promise<{ readonly resourceTemplates: McpResourceTemplate[]; readonly nextCursor?: string }> {
  const part = listedPart(providers.flatMap(({ templates = [] }) => templates));
  const { items, nextCursor } = await inRpc(
    {},
    () => pageOf([part], { listing: 'templates', principal: reader.principal, cursor }),
  );
  const resourceTemplates = items.map(({ uriTemplate, name, title, description, mimeType }) => {
    return { uriTemplate, name, ...defined({ title, description, mimeType }) };
  });
  return { resourceTemplates, ...(nextCursor !== undefined && { nextCursor }) };
}

type WireContent =
  | { readonly uri: string; readonly mimeType?: string; readonly text: string }
  | { readonly uri: string; readonly mimeType?: string; readonly blob: string };

/** @throws RpcError -32602 with the URI for one that is malformed, unknown, or not the caller's. */
export async function readResource(
  providers: readonly McpResources[],
  uri: string,
  reader: McpReader,
): Promise<WireContent[]> {
  const contents = isResourceUri(uri) ? await firstOf(providers, (provider) => provider.read(uri, reader)) : undefined;
  if (!contents || contents.length === 0) throw unknownResource(uri);
  const wired = contents.map((content) => toWire(uri, content));
  if (JSON.stringify(wired).length > maxContentLength) throw tooLong('resource');
  return wired;
}

async function firstOf<T>(
  providers: readonly McpResources[],
  read: (provider: McpResources) => Promise<T | undefined> | T | undefined,
): Promise<T | undefined> {
  for (const provider of providers) {
    const found = await read(provider);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a URI may be looked up: it has a scheme, and no characters that another reader of it might drop. */
export function isResourceUri(uri: string): boolean {
  // oxlint-disable-next-line no-control-regex -- these are what is refused
  return uri.length <= maxUriLength && !/[\u0000-\u0020\u007f-\u009f\\]/.test(uri) && /^[a-z][a-z\d+.-]*:/i.test(uri) &&
    URL.canParse(uri);
}

export function unknownResource(uri: string): RpcError {
  return new RpcError(invalidParams, 'Resource not found', { uri: uri.slice(0, maxUriLength) });
}

/** The error for content that is too long to send. */
function tooLong(what: 'resource' | 'prompt'): PinnaceError {
  return new PinnaceError('budget_exceeded', `Cannot send the ${what}: it is too long`, {
    details: { reason: 'content_too_large', maxContentLength },
  });
}

function toWire(uri: string, content: McpResourceContent): WireContent {
  const facts = { uri: content.uri ?? uri, ...defined({ mimeType: content.mimeType }) };
  if ('text' in content) return { ...facts, text: content.text };
  return { ...facts, blob: toBase64(content.blob) };
}

function defined<T extends object>(fields: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]?: Exclude<T[Key], undefined>;
  };
}

/** Does the work; what it throws becomes the error that a client may read, with these facts. */
export async function inRpc<T>(
  facts: Readonly<Record<string, unknown>>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw toRpcError(thrown, facts);
  }
}

const maxArgumentLength = 16_384;

interface WirePrompt {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly arguments?: { readonly name: string; readonly description?: string; readonly required?: boolean }[];
}

interface WireMessages {
  readonly [key: string]: unknown;
  readonly description: string;
  readonly messages: { readonly role: 'user' | 'assistant'; readonly content: ContentBlock }[];
}

async function promptsOf(prompts: McpPrompts, reader: McpReader): Promise<readonly McpPrompt[]> {
  return typeof prompts === 'function' ? await prompts(reader) : prompts;
}

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

export async function findPrompt(prompts: McpPrompts, name: string, reader: McpReader): Promise<McpPrompt> {
  const found = (await promptsOf(prompts, reader)).find((prompt) => prompt.name === name);
  if (found) return found;
  throw new RpcError(invalidParams, 'Prompt not found', { name: name.slice(0, 256), reason: 'unknown_prompt' });
}

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

/** The most values of an answer: MCP allows no more. */
const maxValues = 100;
const maxValueLength = 1024;

export type CompletionRef =
  | { readonly type: 'ref/prompt'; readonly name: string }
  | { readonly type: 'ref/resource'; readonly uri: string };

interface Completed {
  readonly [key: string]: unknown;
  readonly completion: { readonly values: string[]; readonly total: number; readonly hasMore: boolean };
}

/**
 * Returns values; none where nothing completes the argument.
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

/** Invalid params: also for what does not exist (MCP 2026-07-28). */
const invalidParams = -32602;
const internalError = -32603;

class RpcError extends Error {
  readonly code: number;
  readonly data: Readonly<Record<string, unknown>> | undefined;

  constructor(code: number, message: string, data?: Readonly<Record<string, unknown>>) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The error of a request whose parameters are not as MCP describes them. The text of the library that says so is not passed on. */
export function malformedParams(method: string): RpcError {
  return new RpcError(invalidParams, `Invalid params: they are not as MCP describes those of ${method}`);
}

/** Returns the error that a client receives for what was thrown, with these facts. Only a `PinnaceError` has a text that clients may read. */
function toRpcError(thrown: unknown, facts: Readonly<Record<string, unknown>>): RpcError {
  if (thrown instanceof RpcError) return thrown;
  const error = toPinnaceError(thrown);
  const isTheirs = error.code === 'not_found' || error.code === 'invalid_argument';
  return new RpcError(isTheirs ? invalidParams : internalError, error.message, { ...facts, ...factsOf(error) });
}

function factsOf({ code, retryable, retryAfterMs, details }: PinnaceError): Readonly<Record<string, unknown>> {
  const reason = details?.['reason'];
  return {
    code,
    retryable,
    ...(reason !== undefined && { reason }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}
