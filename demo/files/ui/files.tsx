/** Files in the chat: those of a message, those that a model made, and those that are about to be sent. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { agentOf, type Playground } from '../../app/state/playground.ts';
import { showBeside } from '../../app/state/screens.ts';
import type { Chat } from '../../chat/state/chat.ts';
import { formatBytes, formatCount } from '../../kit/format.ts';
import { Icon } from '../../kit/icon.tsx';
import { saveFile } from '../../kit/save-file.ts';
import { defaultContextTokens } from '../../../src/runtime/estimate-prompt.ts';
import { fileKind } from '../../knowledge/worker/file-kind.ts';
import { excessOf, originalOf, takeFirstPart, textOf } from '../../composer/state/attach.ts';
import { toDataUrl } from '../state/data-url.ts';
import type { AttachedFile } from '../state/attached-file.ts';
import { Button, IconButton } from '../../kit/button.tsx';

/** What to fetch when a file is attached. */
export { attach, attachText } from '../../composer/state/attach.ts';

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
  const { name, mediaType, url, via, isRemoved = false } = file;
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
    if (image.test(mediaType) && url !== '' && !isResource(url) && !isRemoved) void show();
    return () => void (isHere = false);
  }, [url, via]);
  const download = (): void => {
    const saved = file.kind === undefined ? name : `${name}.md`; // what was sent is the text
    contentOf(file, playground).then((blob) => saveFile(blob, saved), () => (isMissing.value = true));
  };
  if (isRemoved) return <Chip testId='file-removed' name={name} facts='removed from the chat' />;
  if (isMissing.value) return <Chip testId='file-missing' name={name} facts='not available' />;
  if (isResource(url)) return <Chip testId='file-resource' name={name} facts={factsOf(file)} />;
  return (
    <button
      type='button'
      class={src.value === undefined ? 'file' : 'file-picture'}
      data-testid='file'
      title={src.value === undefined ? file.skipped?.join('\n') : `${name}, ${factsOf(file)}`}
      onClick={download}
    >
      {src.value === undefined && <Icon name='save' />}
      <span class='visually-hidden'>Download</span>
      {src.value === undefined
        ? (
          <>
            <span class='file-name'>{name}</span>
            <span class='file-facts'>{factsOf(file)}</span>
          </>
        )
        : <img class='answer-image' src={src.value} alt={name} data-testid='file-image' />}
    </button>
  );
}

function Chip(
  { testId, name, facts }: { readonly testId: string; readonly name: string; readonly facts: string },
): JSX.Element {
  return (
    <p class='file' data-testid={testId}>
      <Icon name='file' />
      <span class='file-name'>{name}</span>
      <span class='file-facts'>{facts}</span>
    </p>
  );
}

function factsOf({ name, mediaType, kind = kindOf(name, mediaType), size, url, skipped = [] }: ShownFile): string {
  if (isResource(url)) return 'loaded from its MCP server with each message';
  const left = skipped.length === 0 ? '' : `, ${formatCount(skipped.length, 'part')} not read`;
  return `${kind}${size === undefined ? '' : `, ${formatBytes(size)}`}${left}`;
}

const kinds: Readonly<Record<string, string>> = {
  'application/pdf': 'PDF',
  'application/json': 'JSON',
  'text/csv': 'Table',
  'text/tab-separated-values': 'Table',
  'text/markdown': 'Markdown',
  'audio/mpeg': 'MP3 audio',
  'audio/mp4': 'M4A audio',
  'image/jpeg': 'JPEG picture',
  'image/webp': 'WebP picture',
};

/** The kind of a file in a person's words. */
function kindOf(name: string, mediaType: string): string {
  const [type = '', subtype = ''] = mediaType.split('/');
  const known = kinds[mediaType];
  if (known !== undefined) return known;
  if (type === 'image') return `${subtype.toUpperCase()} picture`;
  if (type === 'audio') return `${subtype.toUpperCase()} audio`;
  return fileKind(name) === 'code' ? 'Code' : type === 'text' ? 'Text' : 'File';
}

async function contentOf({ url, via, mediaType }: ShownFile, { readFile }: Playground): Promise<Blob> {
  if (!url.startsWith('data:')) return await readFile(url, via);
  const base64 = url.slice(url.indexOf(',') + 1);
  return new Blob([Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))], { type: mediaType });
}

/** The files of the message that is being written, each with its removal, and what to do with those that are too large. */
export function DraftFiles({ chat, playground }: { chat: Chat; playground: Playground }): JSX.Element {
  const remove = (...files: readonly AttachedFile[]): void => {
    chat.attached.value = chat.attached.value.filter((other) => !files.includes(other));
    chat.attachProblem.value = undefined;
    playground.focusRequests.value++;
  };
  return (
    <div class='draft-files'>
      <ul class='files is-draft' aria-label='Attached files'>
        {chat.attached.value.map((file, i) => (
          <li key={i} class='file' data-testid='attached' title={file.skipped?.join('\n')}>
            {image.test(file.mediaType) && !isResource(file.url) ? <img src={file.url} alt='' /> : <Icon name='file' />}
            <span class='file-name'>{file.name}</span>
            <span class='file-facts'>{factsOf(file)}</span>
            {file.name.startsWith('Pasted text') && (
              <Button
                kind='quiet'
                testId='paste-as-text'
                onClick={() => {
                  chat.draft.value = `${chat.draft.value}${textOf(file)}`;
                  remove(file);
                }}
              >
                Insert as text
              </Button>
            )}
            <IconButton
              icon='cross'
              label={`Remove ${file.name}`}
              testId='remove-file'
              onClick={() =>
                remove(file)}
            />
          </li>
        ))}
      </ul>
      <TooLarge chat={chat} playground={playground} onRemove={remove} />
    </div>
  );
}

interface TooLargeProps {
  readonly chat: Chat;
  readonly playground: Playground;
  readonly onRemove: (...files: readonly AttachedFile[]) => void;
}

/** Says which files the model cannot take, before they are sent. */
function TooLarge({ chat, playground, onRemove }: TooLargeProps): JSX.Element {
  const { contextTokens = defaultContextTokens } = agentOf(playground.agents, chat.agentId.value);
  const excess = excessOf(chat.attached.value, contextTokens);
  const isBusy = useSignal(false);
  const store = async (files: readonly AttachedFile[]): Promise<void> => {
    isBusy.value = true;
    const answer = await playground.knowledge.connect().add(
      files.map((file) => {
        const content = originalOf(file);
        return { name: content.name, type: content.type, content };
      }),
    ).catch(() => undefined);
    isBusy.value = false;
    if (!answer?.ok) {
      chat.attachProblem.value = answer?.error.message ?? 'The file was not added. Reload the page to try again.';
      return;
    }
    onRemove(...files);
    showBeside(playground, 'knowledge');
  };
  const [first] = excess?.files ?? [];
  const isText = first !== undefined && first.mediaType.startsWith('text/');
  return (
    <div role='status'>
      {excess && first && (
        <div class='too-large' data-testid='too-large'>
          <p>
            <strong>{excess.files.length === 1 ? `“${first.name}” exceeds` : 'These files together exceed'}</strong>
            {' '}
            what this model takes by {excess.percent.toLocaleString('en')} %. Put{' '}
            {excess.files.length === 1 ? 'it' : 'them'} into Files, where agents search for the parts that they need.
          </p>
          <p class='button-row'>
            <Button kind='primary' disabled={isBusy.value} onClick={() => void store(excess.files)}>
              Put into Files
            </Button>
            {excess.files.length === 1 && isText && (
              <Button
                disabled={isBusy.value || excess.room < 500}
                onClick={() => void takeFirstPart(chat, first, excess.room)}
              >
                Use the first part
              </Button>
            )}
            <Button onClick={() => onRemove(...excess.files)}>Remove</Button>
          </p>
        </div>
      )}
    </div>
  );
}
