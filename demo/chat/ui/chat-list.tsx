/** What can be done with a chat, for its menus. */

import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { agentOf, type Playground } from '../../app/state/playground.ts';
import { uncover } from '../../app/state/screens.ts';
import { dayOf } from '../../kit/format.ts';
import { Icon } from '../../kit/icon.tsx';
import { lazy } from '../../kit/lazy.tsx';
import { MenuButton, type MenuItem } from '../../kit/menu.tsx';
import { RunStatus } from '../../kit/run-status.tsx';
import { isAsking } from '../state/approval.ts';
import { type Chat, isRunning } from '../state/chat.ts';

const RepeatDialog = lazy(async () => (await import('../../schedules/repeat-dialog.tsx')).RepeatDialog);
const TotalsDialog = lazy(async () => (await import('./chat-totals.tsx')).TotalsDialog);

/** What is done with one chat of the list. */
interface Doing {
  readonly chatId: string;
  readonly what: 'renaming' | 'totals' | 'repeat';
}

/** The earlier chats: those that are pinned, then the others by day. */
export function ChatList({ playground }: { playground: Playground }): JSX.Element {
  const { chats } = playground;
  const doing = useSignal<Doing | undefined>(undefined);
  const now = Date.now();
  const groups = Map.groupBy(
    chats.list.value.toSorted((a, b) => Number(b.pinned.value) - Number(a.pinned.value)),
    (chat) => chat.pinned.value ? 'Pinned' : dayOf(chat.updatedAt.value, now),
  );
  return (
    <nav class='chat-list' data-testid='chat-list' aria-label='Chat history'>
      {groups.size === 0 && <p class='chat-list-empty'>Your chats appear here and stay in this browser.</p>}
      {[...groups].map(([name, group]) => (
        <section key={name}>
          <h2>{name}</h2>
          <ul>
            {group.map((chat) => <ChatItem key={chat.id} chat={chat} playground={playground} doing={doing} />)}
          </ul>
        </section>
      ))}
    </nav>
  );
}

interface ChatItemProps {
  readonly chat: Chat;
  readonly playground: Playground;
  readonly doing: Signal<Doing | undefined>;
}

function ChatItem({ chat, playground, doing }: ChatItemProps): JSX.Element {
  const { chats, overlay, agents } = playground;
  const isCurrent = chats.current.value === chat;
  const done = doing.value?.chatId === chat.id ? doing.value.what : undefined;
  const title = chat.title.value || 'Untitled';
  const row = useRef<HTMLLIElement>(null);
  const open = (): void => {
    overlay.value = 'none';
    uncover(playground);
    void chats.open(chat.id);
  };
  const focusMore = (): void => row.current?.querySelector<HTMLElement>('[data-testid=chat-more]')?.focus();
  const close = (): void => {
    doing.value = undefined;
    setTimeout(focusMore, 0); // the row is drawn anew first
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || done === undefined) return;
    event.stopPropagation();
    event.preventDefault();
    close();
  };
  return (
    <li ref={row} class='chat-item' data-testid='chat-item' data-current={isCurrent} onKeyDown={onKeyDown}>
      {done === 'renaming' ? <Rename chat={chat} playground={playground} onDone={close} /> : (
        <div class='chat-row'>
          <button type='button' class='chat-open' aria-current={isCurrent ? 'page' : undefined} onClick={open}>
            <span class='chat-title' dir='auto'>{title}</span>
            <span class='chat-agent'>
              {isRunning(chat) && <span class='spinner' />}
              {isWaiting(chat, playground) && <RunStatus state='waiting' />}
              {agentOf(agents, chat.agentId.value).name}
            </span>
          </button>
          <MenuButton
            label={`More actions for “${title}”`}
            testId='chat-more'
            class='icon-button chat-more'
            items={() => itemsOf(chat, playground, doing)}
          >
            <Icon name='more' />
          </MenuButton>
        </div>
      )}
      {done === 'totals' && <TotalsDialog chat={chat} onClose={close} />}
      {done === 'repeat' && <RepeatDialog chat={chat} playground={playground} onClose={close} />}
    </li>
  );
}

/** Whether something in the chat waits for the person, also in one that has not been read yet. */
function isWaiting(chat: Chat, { waiting }: Playground): boolean {
  const last = chat.messages.value.at(-1);
  if (last?.role === 'assistant') return last.outcome.value.type === 'waiting' && isAsking(last);
  return waiting.items.value.some(({ chatId }) => chatId === chat.id);
}

function itemsOf(chat: Chat, playground: Playground, doing: Signal<Doing | undefined>): readonly MenuItem[] {
  const { chats, overlay } = playground;
  const does = (what: Doing['what']): void => void (doing.value = { chatId: chat.id, what });
  return [
    { testId: 'rename-chat', icon: 'rename', title: 'Rename', onChoose: () => does('renaming') },
    {
      testId: 'chat-settings-of',
      icon: 'sliders',
      title: 'Chat settings',
      onChoose: () => void chats.open(chat.id).then(() => (overlay.value = 'chat-settings')),
    },
    {
      testId: 'repeat-chat',
      icon: 'retry',
      title: 'Repeat…',
      onChoose: () =>
        void (chat.loaded.value === 'absent' ? chats.open(chat.id) : Promise.resolve()).then(() => does('repeat')),
    },
    {
      testId: 'chat-usage',
      icon: 'info',
      title: 'Usage',
      onChoose: () =>
        void (chat.loaded.value === 'absent' ? chats.open(chat.id) : Promise.resolve()).then(() => does('totals')),
    },
    ...chatItems(chat, playground),
  ];
}

function Rename(
  { chat, playground: { chats }, onDone }: { chat: Chat; playground: Playground; onDone: () => void },
): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.select(), []);
  const rename = (): void => {
    chats.rename(chat, field.current?.value ?? '');
    onDone();
  };
  return (
    <form
      class='chat-rename'
      onSubmit={(event) => {
        event.preventDefault();
        rename();
      }}
    >
      <input
        ref={field}
        type='text'
        aria-label='Chat title'
        data-testid='chat-name'
        dir='auto'
        maxLength={80}
        autocomplete='off'
        defaultValue={chat.title.value}
        onBlur={rename}
      />
    </form>
  );
}

/** The actions that need nothing of the page around them. */
export function chatItems(chat: Chat, playground: Playground): readonly MenuItem[] {
  const { chats, overlay } = playground;
  const isPinned = chat.pinned.value;
  return [
    { testId: 'pin-chat', icon: 'pin', title: isPinned ? 'Unpin' : 'Pin', onChoose: () => chats.pin(chat, !isPinned) },
    {
      testId: 'share-chat-link',
      icon: 'share',
      title: 'Share as a link',
      onChoose: () => void chats.open(chat.id).then(() => (overlay.value = 'share')),
    },
    {
      testId: 'save-chat',
      icon: 'save',
      title: 'Save as a file',
      onChoose: () => void import('./save-chat.ts').then(({ saveChat }) => saveChat(chat, playground)),
    },
    {
      testId: 'delete-chat',
      icon: 'trash',
      title: 'Delete',
      isDanger: true,
      onChoose: () => {
        void chats.remove(chat.id);
        playground.focusRequests.value++;
      },
    },
  ];
}
