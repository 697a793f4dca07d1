import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type Chat, isRunning } from '../state/chat.ts';
import { agentOf, type Playground } from '../../app/state/playground.ts';
import { dayOf } from '../../kit/format.ts';
import { Icon, type IconName } from '../../kit/icon.tsx';
import { lazy } from '../../kit/lazy.tsx';
import { uncover } from '../../app/ui/over-chat.ts';

const TotalsDialog = lazy(async () => (await import('./chat-totals.tsx')).TotalsDialog);

/** What is done with one chat of the list. */
interface Doing {
  readonly chatId: string;
  readonly what: 'choosing' | 'renaming' | 'totals';
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
  const more = useRef<HTMLButtonElement>(null);
  const open = (): void => {
    overlay.value = 'none';
    uncover(playground);
    void chats.open(chat.id);
  };
  const close = (): void => {
    doing.value = undefined;
    more.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || done === undefined) return;
    event.stopPropagation();
    event.preventDefault();
    close();
  };
  return (
    <li class='chat-item' data-testid='chat-item' data-current={isCurrent} onKeyDown={onKeyDown}>
      {done === 'renaming' ? <Rename chat={chat} playground={playground} onDone={close} /> : (
        <div class='chat-row'>
          <button type='button' class='chat-open' aria-current={isCurrent ? 'page' : undefined} onClick={open}>
            <span class='chat-title' dir='auto'>{title}</span>
            <span class='chat-agent'>
              {isRunning(chat) && <span class='spinner' />}
              {agentOf(agents, chat.agentId.value).name}
            </span>
          </button>
          <button
            ref={more}
            type='button'
            class='icon-button chat-more'
            data-testid='chat-more'
            aria-label={`More actions for “${title}”`}
            aria-expanded={done === 'choosing'}
            onClick={() => (doing.value = done === undefined ? { chatId: chat.id, what: 'choosing' } : undefined)}
          >
            <Icon name='more' />
          </button>
        </div>
      )}
      {done === 'choosing' && (
        <Choices
          chat={chat}
          playground={playground}
          onRename={() => (doing.value = { chatId: chat.id, what: 'renaming' })}
          onTotals={async () => {
            if (chat.loaded.value === 'absent') await chats.open(chat.id);
            more.current?.focus(); // the dialog restores the focus to it
            doing.value = { chatId: chat.id, what: 'totals' };
          }}
          onDone={close}
        />
      )}
      {done === 'totals' && <TotalsDialog chat={chat} onClose={close} />}
    </li>
  );
}

interface ChoicesProps {
  readonly chat: Chat;
  readonly playground: Playground;
  readonly onRename: () => void;
  readonly onTotals: () => Promise<void>;
  readonly onDone: () => void;
}

/** What can be done with a chat. */
function Choices({ chat, playground, onRename, onTotals, onDone }: ChoicesProps): JSX.Element {
  const { chats, overlay } = playground;
  const first = useRef<HTMLDivElement>(null);
  const isPinned = chat.pinned.value;
  useLayoutEffect(() => {
    first.current?.querySelector('button')?.focus();
    first.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  const choice = (name: string, icon: IconName, testId: string, go: () => void): JSX.Element => (
    <button type='button' class='quiet-button' data-testid={testId} onClick={go}>
      <Icon name={icon} />
      <span>{name}</span>
    </button>
  );
  return (
    <div class='chat-choices' ref={first} role='group' aria-label={`“${chat.title.value || 'Untitled'}”`}>
      {choice('Rename', 'rename', 'rename-chat', onRename)}
      {choice(isPinned ? 'Unpin' : 'Pin', 'pin', 'pin-chat', () => {
        chats.pin(chat, !isPinned);
        onDone();
      })}
      {choice('Share', 'share', 'share-chat-link', () => {
        onDone();
        void chats.open(chat.id).then(() => (overlay.value = 'share'));
      })}
      {choice('Save file', 'save', 'save-chat', () => {
        void import('../store/save-chat.ts').then(({ saveChat }) => saveChat(chat, playground));
        onDone();
      })}
      {choice('Settings', 'sliders', 'chat-settings-of', () => {
        void chats.open(chat.id);
        onDone();
        playground.overlay.value = 'chat-settings';
      })}
      {choice('Usage', 'info', 'chat-usage', () => void onTotals())}
      {choice('Delete', 'trash', 'delete-chat', () => {
        onDone();
        void chats.remove(chat.id);
        playground.focusRequests.value++;
      })}
    </div>
  );
}

function Rename({ chat, playground: { chats }, onDone }: Omit<ChoicesProps, 'onRename' | 'onTotals'>): JSX.Element {
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
