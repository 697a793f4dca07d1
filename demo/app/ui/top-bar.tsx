import type { JSX } from 'preact';
import { namesOf } from '../../chat/state/chat-settings.ts';
import type { Chat } from '../../chat/state/chat.ts';
import { chatItems } from '../../chat/ui/chat-list.tsx';
import { chatFind } from '../../find/ui/chat-find.ts';
import { Icon } from '../../kit/icon.tsx';
import { lazy } from '../../kit/lazy.tsx';
import { MenuButton, type MenuItem } from '../../kit/menu.tsx';
import { ModelBadge } from '../../settings/ui/model-badge.tsx';
import { DrawerButton } from '../frame/over-screen.tsx';
import { agentOf, type Playground } from '../state/playground.ts';
import { showBeside } from '../state/screens.ts';
import { IconButton } from '../../kit/button.tsx';

const TrustChip = lazy(async () => (await import('../../chat/ui/trust.tsx')).TrustChip);
const ChatTotals = lazy(async () => (await import('../../chat/ui/chat-totals.tsx')).ChatTotals);

/** What is open, which model answers, and what can be done with the chat. */
export function TopBar({ chat, playground }: { chat: Chat; playground: Playground }): JSX.Element {
  const title = chat.title.value;
  const agent = agentOf(playground.agents, chat.agentId.value);
  return (
    <header class='top-bar'>
      <DrawerButton playground={playground} />
      <div class='top-title'>
        <span class='top-agent'>
          {title === '' ? 'New chat' : agent.name} {agent.trust && <TrustChip trust={agent.trust} />}
        </span>
        {title !== '' && <h1 class='top-chat'>{title}</h1>}
      </div>
      {/* The footer of a single answer says the same. */}
      {chat.messages.value.length > 2 && <ChatTotals chat={chat} />}
      <ModelBadge playground={playground} />
      <ChatSign chat={chat} playground={playground} />
      <MenuButton label='More' testId='chat-menu' items={() => itemsOf(chat, playground)}>
        <Icon name='more' />
      </MenuButton>
      <IconButton icon='plus' label='New chat' class='only-narrow' onClick={() => playground.chats.start()} />
    </header>
  );
}

/** What can be done with the open chat, and what can be shown beside it. */
function itemsOf(chat: Chat, playground: Playground): readonly MenuItem[] {
  const { agents, tree, knowledge } = playground;
  const hasTree = agentOf(agents, chat.agentId.value).panel === 'tree' || tree.isShown.value;
  const panel = (beside: 'tree' | 'knowledge', name: string): MenuItem => {
    const isShown = playground[beside].isShown.value;
    return {
      testId: `open-${beside}`,
      icon: beside === 'tree' ? 'tree' : 'book',
      title: isShown ? `Close the ${name}` : `Show the ${name} beside the chat`,
      onChoose: () => showBeside(playground, beside, !isShown),
    };
  };
  return [
    ...(hasTree ? [panel('tree', 'tree')] : []),
    ...(knowledge.isShown.value || !hasTree ? [panel('knowledge', 'files')] : []),
    {
      testId: 'open-chat-settings',
      icon: 'sliders',
      title: 'Chat settings',
      onChoose: () => void (playground.overlay.value = 'chat-settings'),
    },
    ...(chat.messages.value.length === 0 ? [] : [
      {
        testId: 'find-in-chat',
        icon: 'search' as const,
        title: 'Search in this chat',
        onChoose: () => void setTimeout(() => chatFind(chat).open(), 0), // after the menu restores the focus
      },
      ...chatItems(chat, playground),
    ]),
  ];
}

/** Says that the chat has settings of its own, and opens them. */
function ChatSign({ chat, playground }: { chat: Chat; playground: Playground }): JSX.Element | null {
  const names = namesOf(chat.settings.value);
  if (names.length === 0) return null;
  const label = `Chat settings: ${names.join(', ')}`;
  return (
    <IconButton
      icon='sliders'
      label={label}
      class='chat-sign'
      testId='chat-sign'
      aria-haspopup='dialog'
      onClick={() => (playground.overlay.value = 'chat-settings')}
    />
  );
}
