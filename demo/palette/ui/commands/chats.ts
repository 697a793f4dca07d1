import { agentOf, type Playground } from '../../../app/state/playground.ts';
import type { ChatHit } from '../../../chat/store/search-chats.ts';
import { chatFind } from '../../../find/ui/chat-find.ts';
import { uncover } from '../../../app/state/screens.ts';
import type { Command } from './command.ts';

/** A new chat with each agent. */
export function agentCommands(playground: Playground): readonly Command[] {
  return playground.agents.map(({ id, name }) => ({
    id: `agent-${id}`,
    icon: 'plus',
    title: `New chat with ${name}`,
    hint: 'Agent',
    go: () => {
      uncover(playground);
      playground.chats.start(id);
    },
  }));
}

/** The other chats. */
export function chatCommands(playground: Playground): readonly Command[] {
  const { agents, chats } = playground;
  return chats.list.value.filter((chat) => chat !== chats.current.value).map((chat) => ({
    id: `chat-${chat.id}`,
    icon: 'arrow',
    title: chat.title.value || 'Untitled',
    hint: agentOf(agents, chat.agentId.value).name,
    words: 'chat',
    go: () => {
      uncover(playground);
      void chats.open(chat.id);
    },
  }));
}

/** The chats whose messages hold the query; going there finds it in the chat. */
export function hitCommands(playground: Playground, hits: readonly ChatHit[], query: string): readonly Command[] {
  const { chats } = playground;
  return hits.flatMap(({ chatId, excerpt }) => {
    const chat = chats.list.value.find(({ id }) => id === chatId);
    if (!chat) return [];
    const go = async (): Promise<void> => {
      uncover(playground);
      await chats.open(chatId);
      const find = chatFind(chat);
      find.open();
      find.look(query.trim());
    };
    return [{
      id: `hit-${chatId}`,
      icon: 'search' as const,
      title: excerpt,
      hint: `In “${chat.title.value || 'Untitled'}”`,
      go: () => void go(),
    }];
  });
}
