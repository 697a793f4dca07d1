/** The files of one run: what messages refer to, what tools return, what the model makes. Their code is loaded with the first file. */

import { loadOnce } from '../base/load-once.ts';
import type { ModelMessage, UIMessage, UIMessageChunk } from '../contracts/ai-types.ts';
import { mediaOf } from '../tools/content.ts';
import type { Limits } from './limits.ts';
import type { storeInline } from './open-files.ts';
import { readDataUrl, type RunFiles, type RunFilesOptions } from './message-files.ts';

const load = /* @__PURE__ */ loadOnce(() => import('./open-files.ts'));

/** Creates the files of a run. Loads nothing. */
export function createRunFiles(options: RunFilesOptions): RunFiles {
  let opened: Promise<RunFiles> | undefined;
  const open = (): Promise<RunFiles> => opened ??= load().then(({ openFiles }) => openFiles(options));
  return {
    load: async (messages) => messages.some(hasFiles) ? await (await open()).load(messages) : messages,
    settled(outcome) {
      if (!outcome.ok || mediaOf(outcome.output).length === 0) return outcome;
      return open().then((files) => files.settled(outcome));
    },
    result(output) {
      if (mediaOf(output).length === 0) return undefined;
      return open().then(async (files) => await files.result(output) ?? { type: 'json', value: null });
    },
    shown: (chunks) => chunks.some(isLong) ? open().then((files) => files.shown(chunks)) : chunks,
  };
}

/** Checks the inline files of a message before its run starts. @throws PinnaceError `invalid_argument` as `load`. */
export async function checkInlineFiles(message: UIMessage | undefined, limits: Limits): Promise<void> {
  if (message?.role !== 'user' || !message.parts.some(({ type }) => type === 'file')) return;
  const { checkInline } = await load();
  checkInline(message, limits);
}

type StoreInline = typeof storeInline;

/** Returns the message with its inline files stored, and referred to by address. Rejects as the store does. */
export async function storeInlineFiles(...given: Parameters<StoreInline>): ReturnType<StoreInline> {
  const [message] = given;
  if (!message.parts.some(isInline)) return { message, files: 0 };
  return await (await load()).storeInline(...given);
}

/** The length of a message as JSON without the content of its inline files. */
export function lengthWithoutFiles(message: UIMessage): number {
  const parts = message.parts.map((part) => isInline(part) ? { ...part, url: '' } : part);
  return JSON.stringify({ ...message, parts }).length;
}

function isInline(part: UIMessage['parts'][number]): part is Extract<UIMessage['parts'][number], { url: string }> {
  return (part.type === 'file' || part.type === 'reasoning-file') && readDataUrl(part.url) !== undefined;
}

function hasFiles({ role, content }: ModelMessage): boolean {
  if (role === 'system' || typeof content === 'string') return false;
  return content.some((part) =>
    part.type === 'file' || part.type === 'reasoning-file' ||
    (part.type === 'tool-result' && part.output.type === 'json' && mediaOf(part.output.value).length > 0)
  );
}

/** Chunks of models that may hold files: outputs of tools of ours are stored when they settle. */
function isLong(chunk: UIMessageChunk): boolean {
  if (chunk.type === 'file' || chunk.type === 'reasoning-file') return chunk.url.length > 65_536;
  if (chunk.type !== 'tool-output-available' || chunk.providerExecuted !== true) return false;
  return (JSON.stringify(chunk.output)?.length ?? 0) > 65_536;
}
