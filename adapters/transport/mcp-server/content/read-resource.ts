/** `resources/list`, `resources/templates/list` and `resources/read`. */

import { PinnaceError } from '../../../../src/base/errors.ts';
import { toBase64 } from '../../../../src/base/base64.ts';
import { invalidParams, RpcError, toRpcError } from '../rpc-error.ts';
import { listedPart, pageOf } from './page.ts';
import type { McpReader } from './reader.ts';
import type { McpResource, McpResourceContent, McpResources, McpResourceTemplate } from './resource.ts';

/** The longest URI that is looked up. */
export const maxUriLength = 2048;
/** The longest contents of a resource, or of the messages of a prompt, as JSON in UTF-16 code units. */
export const maxContentLength = 5_242_880;

/** Returns a page of the resources that the caller may read. */
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

/** Returns a page of the templates. */
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

/** The contents of a resource for a client. */
export type WireContent =
  | { readonly uri: string; readonly mimeType?: string; readonly text: string }
  | { readonly uri: string; readonly mimeType?: string; readonly blob: string };

/**
 * Reads a resource.
 *
 * @throws RpcError -32602 with the URI for one that is malformed, unknown, or not the caller's.
 */
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

/** The error for a URI that names nothing of the caller's. */
export function unknownResource(uri: string): RpcError {
  return new RpcError(invalidParams, 'Resource not found', { uri: uri.slice(0, maxUriLength) });
}

/** The error for content that is too long to send. */
export function tooLong(what: 'resource' | 'prompt'): PinnaceError {
  return new PinnaceError('budget_exceeded', `Cannot send the ${what}: it is too long`, {
    details: { reason: 'content_too_large', maxContentLength },
  });
}

function toWire(uri: string, content: McpResourceContent): WireContent {
  const facts = { uri: content.uri ?? uri, ...defined({ mimeType: content.mimeType }) };
  if ('text' in content) return { ...facts, text: content.text };
  return { ...facts, blob: toBase64(content.blob) };
}

/** Returns the fields that have a value. */
export function defined<T extends object>(fields: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
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
