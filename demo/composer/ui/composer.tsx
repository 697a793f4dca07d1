import { useSignal } from '@preact/signals';
import type { JSX, RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type Chat, isRunning, type QueuedMessage } from '../../chat/state/chat.ts';
import { unread } from '../../chat/state/queue.ts';
import { nextFrame } from '../../kit/hooks/frame-queue.ts';
import { agentOf, type Playground } from '../../app/state/playground.ts';
import { AttachButton, takeDraft, takeFiles, takeText } from '../../files/ui/attach-button.tsx';
import { DraftFiles } from '../../files/ui/lazy-files.tsx';
import { Icon } from '../../kit/icon.tsx';
import { lazy } from '../../kit/lazy.tsx';

/** Prompts and resources of MCP servers, fetched with the first "/". */
const CommandMenu = lazy(async () => (await import('./command-menu.tsx')).CommandMenu);

function isNothing(text: string, files: readonly unknown[]): boolean {
  return text.trim() === '' && files.length === 0;
}

/** Where a message is written, sent, and its run stopped. */
export function Composer({ chat, playground }: { chat: Chat; playground: Playground }): JSX.Element {
  const isBusy = isRunning(chat);
  const draft = chat.draft.value;
  const files = chat.attached.value;
  const isEmpty = isNothing(draft, files);
  const isOver = useSignal(false);
  const send = (): void => {
    if (takeDraft(chat)) return;
    const [text, attached] = [chat.draft.peek(), chat.attached.peek()]; // two keys may come before this is drawn again
    if (isNothing(text, attached) || !playground.send(text, attached)) return;
    chat.draft.value = '';
    chat.attached.value = [];
    chat.attachProblem.value = undefined;
  };
  return (
    <form
      class={isOver.value ? 'composer is-over' : 'composer'}
      onDragOver={(event) => {
        if (!event.dataTransfer?.types.includes('Files')) return;
        event.preventDefault();
        isOver.value = true;
      }}
      onDragLeave={() => (isOver.value = false)}
      onDrop={(event) => {
        isOver.value = false;
        if (takeFiles(chat, event.dataTransfer?.files)) event.preventDefault();
      }}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <Queue chat={chat} />
      {chat.attachProblem.value !== undefined && (
        <p class='attach-problem' role='alert' data-testid='attach-problem'>{chat.attachProblem.value}</p>
      )}
      {files.length > 0 && <DraftFiles chat={chat} playground={playground} />}
      {draft.startsWith('/') && <CommandMenu chat={chat} playground={playground} />}
      <MessageField chat={chat} playground={playground} onEnter={send} />
      <div class='composer-foot'>
        <Hints isBusy={isBusy} />
        <span class='composer-buttons'>
          <AttachButton chat={chat} />
          {isBusy && <StopButton onStop={() => playground.chats.stop()} />}
          {(!isBusy || !isEmpty) && <SendButton disabled={isEmpty} />}
        </span>
      </div>
    </form>
  );
}

function Hints({ isBusy }: { readonly isBusy: boolean }): JSX.Element {
  return (
    <p class='hints'>
      {isBusy
        ? (
          <span>
            <kbd>Enter</kbd> sends to the running agent, <kbd>Esc</kbd> stops
          </span>
        )
        : (
          <span>
            <kbd>Enter</kbd> sends, <kbd>Shift Enter</kbd> starts a new line
          </span>
        )}
    </p>
  );
}

const queueLabels: Readonly<Record<QueuedMessage['state'], string>> = {
  sending: 'Sending to the running agent',
  sent: 'Sent to the running agent, which reads it before its next step',
  next: 'Will be sent as your next message',
};

/** What was sent while the answer is written, and where it is. */
function Queue({ chat }: { chat: Chat }): JSX.Element {
  const messages = unread(chat);
  return (
    <div class='queue' role='status' hidden={messages.length === 0}>
      {messages.map(({ id, text, files = [], state }) => (
        <div key={id} data-testid='queued' data-state={state}>
          <p>{[text, ...files.map(({ name }) => name)].filter((each) => each !== '').join(', ')}</p>
          <span>{queueLabels[state]}</span>
        </div>
      ))}
    </div>
  );
}

interface MessageFieldProps {
  readonly chat: Chat;
  readonly playground: Playground;
  readonly onEnter: () => void;
}

function MessageField({ chat, playground, onEnter }: MessageFieldProps): JSX.Element {
  const field = useRef<HTMLTextAreaElement>(null);
  const agent = agentOf(playground.agents, chat.agentId.value);
  const draft = chat.draft.value;
  useFocus(field, playground.focusRequests.value);
  useLayoutEffect(() => grow(field.current), [draft]);

  const onKeyDown = (event: KeyboardEvent): void => {
    // While a word is being composed (Japanese, Chinese, …), Enter ends the word.
    if (event.isComposing) return;
    if (event.key === 'ArrowUp' && draft === '' && editLast(chat)) event.preventDefault();
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    onEnter();
  };
  return (
    <textarea
      ref={field}
      data-testid='composer'
      aria-label={`Message to ${agent.name}`}
      placeholder={`Message ${agent.name}`}
      rows={1}
      dir='auto'
      enterkeyhint='send'
      value={draft}
      disabled={chat.loaded.value !== 'ready'}
      onInput={({ currentTarget }) => (chat.draft.value = currentTarget.value)}
      onKeyDown={onKeyDown}
      onPaste={(event) => {
        const pasted = event.clipboardData;
        if (pasted?.types.includes('text/plain')) { // office programs add a picture of the text
          if (takeText(chat, pasted.getData('text/plain'))) event.preventDefault();
          return;
        }
        if (takeFiles(chat, pasted?.files)) event.preventDefault();
      }}
    />
  );
}

/** Edits the person's last message. Returns whether there is one. */
function editLast(chat: Chat): boolean {
  const last = chat.messages.value.findLast(({ role }) => role === 'user');
  if (!last || isRunning(chat)) return false;
  chat.editing.value = last.id;
  return true;
}

/** Focuses the field whenever `requests` counts up, and at first where that opens no keyboard over the page. */
function useFocus(field: RefObject<HTMLTextAreaElement | null>, requests: number): void {
  const isShown = useRef(false);
  useLayoutEffect(() => {
    const isFirst = !isShown.current;
    isShown.current = true;
    if (isFirst && !matchMedia('(hover: hover)').matches) return undefined;
    if (!isFirst || isFocusElsewhere()) return field.current?.focus();
    // Focusing needs a layout; where nothing has the focus, it is set in the next frame.
    return nextFrame(() => isFocusElsewhere() || field.current?.focus());
  }, [requests]);
}

function isFocusElsewhere(): boolean {
  return document.activeElement !== document.body;
}

function SendButton({ disabled }: { disabled: boolean }): JSX.Element {
  return (
    <button type='submit' class='send' data-testid='send' disabled={disabled}>
      <Icon name='send' />
      Send
    </button>
  );
}

function StopButton({ onStop }: { onStop: () => void }): JSX.Element {
  return (
    <button type='button' class='send is-stop' data-testid='stop' onClick={onStop}>
      <Icon name='stop' />
      Stop
    </button>
  );
}

/** As high as its text; the style sheet sets the most, and does this alone where the browser can. */
function grow(field: HTMLTextAreaElement | null): void {
  if (!field || CSS.supports('field-sizing', 'content')) return;
  field.style.height = 'auto';
  field.style.height = `${field.scrollHeight}px`;
}
