import { agentOf, type Playground } from '../../../app/state/playground.ts';
import type { ChatHit } from '../../../chat/state/chat-storage.ts';
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
    group: 'Recent chats',
    words: 'chat',
    go: () => {
      uncover(playground);
      void chats.open(chat.id);
    },
  }));
}

/** The chats that hold the query, the best first; going there finds it in the chat. */
export function hitCommands(playground: Playground, hits: readonly ChatHit[]): readonly Command[] {
  const { agents, chats } = playground;
  return hits.flatMap(({ chatId, excerpt, ranges, found }) => {
    const chat = chats.list.value.find(({ id }) => id === chatId);
    if (!chat) return [];
    const go = async (): Promise<void> => {
      uncover(playground);
      await chats.open(chatId);
      if (found === undefined) return;
      const find = chatFind(chat);
      find.open();
      find.look(found);
    };
    return [{
      id: `hit-${chatId}`,
      icon: 'search' as const,
      title: chat.title.value || 'Untitled',
      hint: agentOf(agents, chat.agentId.value).name,
      group: 'Chats',
      ...(excerpt !== '' && { excerpt: { text: excerpt, ranges } }),
      go: () => void go(),
    }];
  });
}
