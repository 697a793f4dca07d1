/** Files within results of tools, as a model receives them. */

import type { LanguageModelV4ToolResultOutput } from '@ai-sdk/provider';
import type { ModelMessage } from '../messages/model-messages.ts';
import { fromBase64 } from '../../base/base64.ts';
import { type MediaBlock, mediaOf, withMedia } from '../../tools/content.ts';
import { fileTypeOf, isTextType } from './file-type.ts';
import type { FileAddress, LoadedFile } from './files.ts';
import { blobIdOf } from './references.ts';

type Output = Extract<Extract<ModelMessage, { role: 'tool' }>['content'][number], { type: 'tool-result' }>['output'];
type Content = Extract<LanguageModelV4ToolResultOutput, { type: 'content' }>['value'];

/** Loads a file, or says in a text why there is none. */
export type LoadFile = (address: FileAddress) => Promise<LoadedFile | string>;

/** Returns the output of a result with the files that it names; every other output as it is. */
export async function outputWithFiles(output: Output, load: LoadFile): Promise<Output> {
  if (output.type !== 'json' || mediaOf(output.value).length === 0) return output;
  return { type: 'content', value: await contentOf(output.value, load) };
}

/** The content for an output: a text with all but the files, then the files. Base64 never becomes text. */
export async function contentOf(output: unknown, load: LoadFile): Promise<Content> {
  const files = await Promise.all(mediaOf(output).map((media) => fileOf(media, load)));
  let shown = 0;
  const labels = files.map((file) => typeof file === 'string' ? `left out: ${file}` : `file ${++shown} below`);
  const text = JSON.stringify(withMedia(output, (_, at) => labels[at] ?? ''));
  return [{ type: 'text', text }, ...files.flatMap((file) => typeof file === 'string' ? [] : [file])];
}

/** The content decides on the type: a provider fails the whole run for an image that is none. */
async function fileOf(media: MediaBlock, load: LoadFile): Promise<Content[number] | string> {
  const { data, mediaType: declared } = media;
  const isStored = blobIdOf(data) !== undefined;
  const loaded = isStored ? await load({ url: data, mediaType: declared }) : readBase64(data, declared);
  if (typeof loaded === 'string') return loaded;
  const { mediaType, base64, bytes } = loaded;
  if (isTextType(mediaType)) return { type: 'text', text: new TextDecoder().decode(bytes) };
  return { type: 'file', mediaType, data: { type: 'data', data: base64 } };
}

function readBase64(base64: string, declared: string): Omit<LoadedFile, 'from'> | string {
  const bytes = fromBase64(base64);
  try {
    return bytes ? { mediaType: fileTypeOf(bytes, declared), base64, bytes } : 'it is not base64';
  } catch {
    return 'a model takes no such file';
  }
}
