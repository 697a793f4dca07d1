import type { JSX } from 'preact';
import type { Chat } from '../../chat/state/chat.ts';
import { agentOf, type Playground, showBeside } from '../state/playground.ts';
import { Icon } from '../../kit/icon.tsx';
import { ChatSign } from '../../chat/settings/chat-sign.tsx';
import { lazy } from '../../kit/lazy.tsx';
import { ModelBadge } from '../../settings/ui/model-badge.tsx';

const ChatTotals = lazy(async () => (await import('../../chat/ui/chat-totals.tsx')).ChatTotals);

/** What is open, and which model answers. */
export function TopBar({ chat, playground }: { chat: Chat; playground: Playground }): JSX.Element {
  const { overlay, chats, agents, tree, knowledge } = playground;
  const title = chat.title.value;
  const agent = agentOf(agents, chat.agentId.value);
  return (
    <header class='top-bar'>
      <button
        type='button'
        class='icon-button only-narrow'
        data-testid='open-drawer'
        aria-label='Chats'
        aria-expanded={overlay.value === 'drawer'}
        onClick={() => (overlay.value = 'drawer')}
      >
        <Icon name='menu' />
      </button>
      <div class='top-title'>
        <span class='top-agent'>{title === '' ? 'New chat' : agent.name}</span>
        {title !== '' && <h1 class='top-chat'>{title}</h1>}
      </div>
      {/* The footer of a single answer says the same. */}
      {chat.messages.value.length > 2 && <ChatTotals chat={chat} />}
      <ModelBadge playground={playground} />
      <ChatSign chat={chat} playground={playground} />
      <button
        type='button'
        class='icon-button'
        data-testid='open-tree'
        aria-label='Tree'
        title='Shipyard tree'
        aria-pressed={tree.isShown.value}
        onClick={() => showBeside(playground, 'tree', !tree.isShown.value)}
      >
        <Icon name='tree' />
      </button>
      <button
        type='button'
        class='icon-button'
        data-testid='open-knowledge'
        aria-label='Knowledge'
        title='Knowledge: your files'
        aria-pressed={knowledge.isShown.value}
        onClick={() => showBeside(playground, 'knowledge', !knowledge.isShown.value)}
      >
        <Icon name='book' />
      </button>
      <button type='button' class='icon-button only-narrow' aria-label='New chat' onClick={() => chats.start()}>
        <Icon name='plus' />
      </button>
    </header>
  );
}
