import type { JSX } from 'preact';
import { type Chat, isRunning } from '../state/chat.ts';
import type { UserMessage } from '../state/message.ts';
import type { Playground } from '../../app/state/playground.ts';
import { Files } from '../../files/ui/lazy-files.tsx';
import { CopyButton } from '../../kit/copy-button.tsx';
import { Icon } from '../../kit/icon.tsx';
import { lazy } from '../../kit/lazy.tsx';
import type { InFeed } from './answer.tsx';
import { VersionSwitch } from './versions.tsx';

const EditQuestion = lazy(async () => (await import('./edit-question.tsx')).EditQuestion);

interface QuestionProps {
  readonly message: UserMessage;
  readonly chat: Chat;
  readonly playground: Playground;
  readonly inFeed: InFeed;
}

/** What the person wrote, and what can be done with it. */
export function Question({ message, chat, playground, inFeed }: QuestionProps): JSX.Element {
  const { id, text, files } = message;
  const isEdited = chat.editing.value === id;
  return (
    <article class='message question' aria-label='You' data-testid='message' data-role='user' {...inFeed}>
      <h2 class='visually-hidden'>You</h2>
      {isEdited ? <EditQuestion message={message} chat={chat} playground={playground} /> : (
        <>
          <div class='question-bubble'>
            {text !== '' && <p dir='auto'>{text}</p>}
            {files && <Files files={files.value} playground={playground} />}
          </div>
          <div class='question-actions'>
            <VersionSwitch chat={chat} messageId={id} playground={playground} />
            {text !== '' && <CopyButton text={() => text} label='Copy' />}
            {!isRunning(chat) && (
              <button
                type='button'
                class='quiet-button'
                data-testid='edit-question'
                onClick={() => (chat.editing.value = id)}
              >
                <Icon name='rename' />
                <span>Edit</span>
              </button>
            )}
          </div>
        </>
      )}
    </article>
  );
}
