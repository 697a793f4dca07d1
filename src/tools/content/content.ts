/** Outputs that are more than data: texts, images, sounds and files, block by block, for clients that can show them. */

import * as v from 'valibot';

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
