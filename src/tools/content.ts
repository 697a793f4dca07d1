/** Outputs of several blocks: texts, files and links. */

import * as v from 'valibot';
import { isRecord } from '../base/is-record.ts';

const Base64 = v.pipe(v.string(), v.regex(/^[A-Za-z0-9+/]*={0,2}$/, 'must be base64'));
const MimeType = v.pipe(v.string(), v.maxLength(200));
const Uri = v.pipe(v.string(), v.minLength(1), v.maxLength(2048));

/** One block, as MCP has them. */
export const ContentBlock = v.variant('type', [
  v.strictObject({ type: v.literal('text'), text: v.string() }),
  v.strictObject({ type: v.literal('image'), data: Base64, mimeType: MimeType }),
  v.strictObject({ type: v.literal('audio'), data: Base64, mimeType: MimeType }),
  v.strictObject({
    type: v.literal('resource'),
    resource: v.union([
      v.strictObject({ uri: Uri, mimeType: v.optional(MimeType), text: v.string() }),
      v.strictObject({ uri: Uri, mimeType: v.optional(MimeType), blob: Base64 }),
    ]),
  }),
  v.strictObject({
    type: v.literal('resource_link'),
    uri: Uri,
    name: v.string(),
    title: v.optional(v.string()),
    description: v.optional(v.string()),
    mimeType: v.optional(MimeType),
  }),
]);
export type ContentBlock = v.InferOutput<typeof ContentBlock>;

/** An output of blocks. Models get it as the data that it is; an MCP client gets the blocks. */
export const ContentOutput = v.strictObject({
  mcpContent: v.pipe(v.array(ContentBlock), v.maxLength(100)),
  /** The same for programs; what the tool's `outputSchema` describes. */
  data: v.optional(v.unknown()),
});
export type ContentOutput = v.InferOutput<typeof ContentOutput>;

/**
 * Returns an output of blocks.
 *
 * @example
 * execute: () => contentOutput([{ type: 'image', data: base64, mimeType: 'image/png' }])
 */
export function contentOutput(blocks: readonly ContentBlock[], data?: unknown): ContentOutput {
  return { mcpContent: [...blocks], ...(data !== undefined && { data }) };
}

/** Reads an output of blocks; `undefined` for any other output. */
export function readContent(output: unknown): ContentOutput | undefined {
  const result = v.safeParse(ContentOutput, output);
  return result.success ? result.output : undefined;
}

/** A file within an output. */
export interface MediaBlock {
  readonly type: string;
  readonly mediaType: string;
  /** Base64, or the address of a stored file. */
  readonly data: string;
}

type Block = Readonly<Record<string, unknown>>;

/** The files of an output, in order. Cheap for every other output. */
export function mediaOf(output: unknown): readonly MediaBlock[] {
  return blocksOf(output)?.flatMap((block) => readMedia(block) ?? []) ?? [];
}

/** Returns the output with the data of each file replaced; `replace` is called in the order of `mediaOf`. */
export function withMedia(output: unknown, replace: (media: MediaBlock, at: number) => string): unknown {
  const blocks = blocksOf(output);
  if (!blocks || !isRecord(output)) return output;
  let at = 0;
  const replaced = blocks.map((block) => {
    const media = readMedia(block);
    return media ? withData(block, replace(media, at++)) : block;
  });
  return { ...output, ['mcpContent' in output ? 'mcpContent' : 'content']: replaced };
}

/** The blocks of an output: of `contentOutput`, or of an MCP server's result. */
function blocksOf(output: unknown): readonly unknown[] | undefined {
  if (!isRecord(output)) return undefined;
  const { mcpContent, content, untrusted } = output;
  if (Array.isArray(mcpContent)) return mcpContent;
  return untrusted === true && Array.isArray(content) ? content : undefined;
}

function readMedia(block: unknown): MediaBlock | undefined {
  if (!isRecord(block)) return undefined;
  const { type, resource, mimeType, base64, data } = block;
  if (type === 'resource' && isRecord(resource)) return mediaWith(type, resource['mimeType'], resource['blob']);
  if (type !== 'image' && type !== 'audio' && type !== 'resource') return undefined;
  return mediaWith(type, mimeType, base64 ?? data);
}

function mediaWith(type: string, mimeType: unknown, data: unknown): MediaBlock | undefined {
  if (typeof data !== 'string' || data === '') return undefined;
  return { type, mediaType: typeof mimeType === 'string' ? mimeType : '', data };
}

function withData(block: unknown, data: string): Block {
  const given = block as Block; // `readMedia` has read it
  if (isRecord(given['resource'])) return { ...given, resource: { ...given['resource'], blob: data } };
  return { ...given, ['base64' in given ? 'base64' : 'data']: data };
}
