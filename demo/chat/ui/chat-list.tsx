import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type Chat, isRunning } from '../state/chat.ts';
import { agentOf, type Playground } from '../../app/state/playground.ts';
import { dayOf } from '../../kit/format.ts';
import { Icon } from '../../kit/icon.tsx';
import { uncover } from '../../app/ui/over-chat.ts';

/** The earlier chats by day; each can be opened and, after a question, deleted. */
export function ChatList({ playground }: { playground: Playground }): JSX.Element {
  const { chats } = playground;
  const deleting = useSignal<string | undefined>(undefined);
  const groups = Map.groupBy(chats.list.value, (chat) => dayOf(chat.updatedAt.value, Date.now()));
  return (
    <nav class='chat-list' data-testid='chat-list' aria-label='Earlier chats'>
      {groups.size === 0 && <p class='chat-list-empty'>Your chats appear here and stay in this browser.</p>}
      {[...groups].map(([day, group]) => (
        <section key={day}>
          <h2>{day}</h2>
          <ul>
            {group.map((chat) => <ChatItem key={chat.id} chat={chat} playground={playground} deleting={deleting} />)}
          </ul>
        </section>
      ))}
    </nav>
  );
}

interface ChatItemProps {
  readonly chat: Chat;
  readonly playground: Playground;
  /** The chat whose deletion awaits confirmation. */
  readonly deleting: Signal<string | undefined>;
}

function ChatItem({ chat, playground, deleting }: ChatItemProps): JSX.Element {
  const { chats, overlay, agents } = playground;
  const isCurrent = chats.current.value === chat;
  const isAsking = deleting.value === chat.id;
  const title = chat.title.value || 'Untitled';
  const open = (): void => {
    overlay.value = 'none';
    uncover(playground);
    void chats.open(chat.id);
  };
  return (
    <li class='chat-item' data-testid='chat-item' data-current={isCurrent}>
      <button type='button' class='chat-open' aria-current={isCurrent ? 'page' : undefined} onClick={open}>
        <span class='chat-title'>{title}</span>
        <span class='chat-agent'>
          {isRunning(chat) && <span class='spinner' />}
          {agentOf(agents, chat.agentId.value).name}
        </span>
      </button>
      <button
        type='button'
        class='icon-button chat-delete'
        data-testid='delete-chat'
        aria-label={`Delete “${title}”`}
        onClick={() => (deleting.value = chat.id)}
      >
        <Icon name='trash' />
      </button>
      {isAsking && (
        <DeleteQuestion
          onDelete={() => void chats.remove(chat.id)}
          onKeep={() => (deleting.value = undefined)}
        />
      )}
    </li>
  );
}

function DeleteQuestion({ onDelete, onKeep }: { onDelete: () => void; onKeep: () => void }): JSX.Element {
  const keep = useRef<HTMLButtonElement>(null);
  useEffect(() => keep.current?.focus(), []);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    onKeep();
  };
  return (
    <div class='delete-question' role='alertdialog' aria-label='Delete this chat?' onKeyDown={onKeyDown}>
      <span>Delete for good?</span>
      <button type='button' class='button is-danger' data-testid='confirm-delete' onClick={onDelete}>Delete</button>
      <button ref={keep} type='button' class='button' data-testid='keep-chat' onClick={onKeep}>Keep</button>
    </div>
  );
}
