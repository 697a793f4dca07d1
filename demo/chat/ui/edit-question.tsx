import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Chat } from '../state/chat.ts';
import type { UserMessage } from '../state/message.ts';
import type { Playground } from '../../app/state/playground.ts';
import { Icon } from '../../kit/icon.tsx';
import { Button } from '../../kit/button.tsx';

interface EditQuestionProps {
  readonly message: UserMessage;
  readonly chat: Chat;
  readonly playground: Playground;
}

/** Changes a message and sends it once more. The earlier one stays as another version. */
export function EditQuestion({ message: { id, text, files }, chat, playground }: EditQuestionProps): JSX.Element {
  const field = useRef<HTMLTextAreaElement>(null);
  const written = useSignal(text);
  const isEmpty = written.value.trim() === '' && !files;
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(text.length, text.length);
  }, []);
  const close = (): void => {
    chat.editing.value = undefined;
    playground.focusRequests.value++;
  };
  const send = (): void => {
    if (isEmpty || !playground.edit(id, written.value)) return;
    close();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') close();
    else if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) send();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <form
      class='question-edit'
      data-testid='question-edit'
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        ref={field}
        aria-label='Edit your message'
        data-testid='edit-text'
        dir='auto'
        rows={2}
        value={written.value}
        onInput={({ currentTarget }) => (written.value = currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {hasCalls(chat, id) && <p class='field-help'>Tool calls that were made after this message are not undone.</p>}
      <div class='question-edit-buttons'>
        <Button onClick={close}>Cancel</Button>
        <button type='submit' class='send' data-testid='edit-send' disabled={isEmpty}>
          <Icon name='send' />
          Send
        </button>
      </div>
    </form>
  );
}

/** Whether tools were called after the message. */
function hasCalls({ messages }: Chat, messageId: string): boolean {
  const at = messages.value.findIndex(({ id }) => id === messageId);
  return messages.value.slice(at + 1).some((message) =>
    message.role === 'assistant' && message.parts.value.some(({ type }) => type === 'tool' || type === 'plan')
  );
}
