/** Files in the chat: those of a message, those that a model made, and those that are about to be sent. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Playground } from '../../app/state/playground.ts';
import type { Chat } from '../../chat/state/chat.ts';
import { formatBytes } from '../../kit/format.ts';
import { Icon } from '../../kit/icon.tsx';
import { saveFile } from '../../kit/save-file.ts';
import { toDataUrl } from '../state/attach.ts';
import type { AttachedFile } from '../state/attached-file.ts';

/** What to fetch when a file is attached. */
export { attach, attachText } from '../state/attach.ts';

/** A file as it is shown. The size of a file that a model made is not known. */
export type ShownFile = Omit<AttachedFile, 'size'> & { readonly size?: number | undefined };

interface FilesProps {
  readonly files: readonly ShownFile[];
  readonly playground: Playground;
}

/** Files with what they show and a download. */
export function Files({ files, playground }: FilesProps): JSX.Element {
  return (
    <ul class='files' aria-label='Files' data-testid='files'>
      {files.map((file, i) => (
        <li key={i}>
          <FileView file={file} playground={playground} />
        </li>
      ))}
    </ul>
  );
}

/** What a page may show as an image: no SVG. */
const image = /^image\/(?:png|jpeg|gif|webp)$/;

/** Whether it is a resource of an MCP server, which each run reads again. */
function isResource(url: string): boolean {
  return url.startsWith('pinnace-mcp:');
}

function FileView({ file, playground }: { file: ShownFile; playground: Playground }): JSX.Element {
  const { name, mediaType, url, via } = file;
  const src = useSignal<string | undefined>(undefined);
  const isMissing = useSignal(url === '');
  useEffect(() => {
    let isHere = true;
    const show = async (): Promise<void> => {
      try {
        const blob = await contentOf(file, playground);
        const shown = image.test(blob.type) ? await toDataUrl(blob) : undefined;
        if (isHere) src.value = shown;
      } catch {
        if (isHere) isMissing.value = true;
      }
    };
    isMissing.value = url === '';
    if (image.test(mediaType) && url !== '' && !isResource(url)) void show();
    return () => void (isHere = false);
  }, [url, via]);
  const download = (): void => {
    contentOf(file, playground).then((blob) => saveFile(blob, name), () => (isMissing.value = true));
  };
  return (
    <>
      {src.value !== undefined && <img class='answer-image' src={src.value} alt={name} data-testid='file-image' />}
      {isMissing.value
        ? (
          <p class='file' data-testid='file-missing'>
            <Icon name='file' />
            <span class='file-name'>{name}</span>
            <span class='file-facts'>not available</span>
          </p>
        )
        : isResource(url)
        ? (
          <p class='file' data-testid='file-resource'>
            <Icon name='file' />
            <span class='file-name'>{name}</span>
            <span class='file-facts'>{factsOf(file)}</span>
          </p>
        )
        : (
          <button
            type='button'
            class='file'
            data-testid='file'
            onClick={download}
          >
            <Icon name='save' />
            <span class='visually-hidden'>Download</span>
            <span class='file-name'>{name}</span>
            <span class='file-facts'>{factsOf(file)}</span>
          </button>
        )}
    </>
  );
}

function factsOf({ mediaType, size, url }: ShownFile): string {
  if (isResource(url)) return 'loaded from its MCP server with each message';
  return size === undefined ? mediaType : `${mediaType}, ${formatBytes(size)}`;
}

/** The text of a file that is not sent yet. */
function textOf({ url }: AttachedFile): string {
  const bytes = Uint8Array.from(atob(url.slice(url.indexOf(',') + 1)), (character) => character.charCodeAt(0));
  return new TextDecoder().decode(bytes);
}

async function contentOf({ url, via, mediaType }: ShownFile, { readFile }: Playground): Promise<Blob> {
  if (!url.startsWith('data:')) return await readFile(url, via);
  const base64 = url.slice(url.indexOf(',') + 1);
  return new Blob([Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))], { type: mediaType });
}

/** The files of the message that is being written, each with its removal. */
export function DraftFiles({ chat, onRemoved }: { chat: Chat; onRemoved: () => void }): JSX.Element {
  const remove = (file: AttachedFile): void => {
    chat.attached.value = chat.attached.value.filter((other) => other !== file);
    chat.attachProblem.value = undefined;
    onRemoved();
  };
  return (
    <ul class='files is-draft' aria-label='Attached files'>
      {chat.attached.value.map((file, i) => (
        <li key={i} class='file' data-testid='attached'>
          {image.test(file.mediaType) && !isResource(file.url) ? <img src={file.url} alt='' /> : <Icon name='file' />}
          <span class='file-name'>{file.name}</span>
          <span class='file-facts'>{factsOf(file)}</span>
          {file.name.startsWith('Pasted text') && (
            <button
              type='button'
              class='quiet-button'
              data-testid='paste-as-text'
              onClick={() => {
                chat.draft.value = `${chat.draft.value}${textOf(file)}`;
                remove(file);
              }}
            >
              Insert as text
            </button>
          )}
          <button
            type='button'
            class='icon-button'
            aria-label={`Remove ${file.name}`}
            data-testid='remove-file'
            onClick={() => remove(file)}
          >
            <Icon name='cross' />
          </button>
        </li>
      ))}
    </ul>
  );
}
