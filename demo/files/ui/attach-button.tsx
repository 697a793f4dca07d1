import type { JSX } from 'preact';
import type { Chat } from '../../chat/state/chat.ts';
import { attach, attachText } from './lazy-files.tsx';
import { FileButton } from '../../kit/file-button.tsx';

/** What the file dialog offers; the content of a file decides whether it is taken. */
const accepted = [
  'image/png,image/jpeg,image/gif,image/webp,application/pdf,audio/*,text/*,application/json,.md,.csv',
  '.docx,.xlsx,.pptx,.odt,.ods,.odp,.ts,.tsx,.js,.py,.go,.rs,.java,.c,.cpp,.sql,.yaml,.yml,.toml,.xml',
].join();

/** Opens the file dialog. */
export function AttachButton({ chat }: { chat: Chat }): JSX.Element {
  return (
    <FileButton
      label='Attach file'
      testId='attach'
      inputTestId='attach-input'
      accept={accepted}
      multiple
      disabled={chat.loaded.value !== 'ready'}
      onFiles={(files) => takeFiles(chat, files)}
    />
  );
}

/** Adds files that were chosen, pasted or dropped. Returns whether there are any. */
export function takeFiles(chat: Chat, files: ArrayLike<File> | undefined): boolean {
  if (!files || files.length === 0 || chat.loaded.value !== 'ready') return false;
  attach(chat, Array.from(files)).catch(() => {
    chat.attachProblem.value = 'The file was not attached: a part of this page could not be loaded. Reload the page.';
  });
  return true;
}

/** A pasted text of this length becomes a file, in UTF-16 code units. */
const longText = 4000;

/** Adds a long pasted text as a file. Returns whether it is long. */
export function takeText(chat: Chat, text: string): boolean {
  if (text.length < longText || chat.loaded.value !== 'ready') return false;
  attachText(chat, text).catch(() => (chat.draft.value += text));
  return true;
}

/** The longest text of a message, in UTF-16 code units of the part as JSON: the runtime's default. */
const longestPart = 65_536;

/** Adds a draft that is too long for a message as a file. Returns whether it is. A draft that cannot be added stays one. */
export function takeDraft(chat: Chat): boolean {
  const text = chat.draft.peek();
  if (JSON.stringify({ type: 'text', text }).length <= longestPart) return false;
  chat.draft.value = '';
  void attachDraft(chat, text);
  return true;
}

async function attachDraft(chat: Chat, text: string): Promise<void> {
  const { draft, attachProblem } = chat;
  if (await attachText(chat, text).catch(() => false)) {
    attachProblem.value = 'The text was too long for a message. It is attached as a file: send it with a question.';
    return;
  }
  draft.value = text + draft.peek();
  attachProblem.value ??= 'The text is too long for a message, and was not attached. Reload the page.';
}
