/** Files within the outputs of tools: images, sounds and resources, as `contentOutput` and MCP servers return them. */

import { isRecord } from '../../base/is-record.ts';

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
