import { agentOf, type Playground } from '../../../app/state/playground.ts';
import { chatFind } from '../../../find/ui/chat-find.ts';
import { uncover } from '../../../app/state/screens.ts';
import type { SearchHit } from '../../../control/search-control.ts';
import type { Command } from './command.ts';

/** A new chat with each agent. */
export function agentCommands(playground: Playground): readonly Command[] {
  return playground.agents.map(({ id, name, description }) => ({
    id: `agent-${id}`,
    icon: 'plus',
    title: `New chat with ${name}`,
    hint: 'Agent',
    about: description,
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

/** A chat that was found; going there finds the words in it. */
export function hitCommand(playground: Playground, { id, excerpt, found }: SearchHit): Command | undefined {
  const { agents, chats } = playground;
  const chat = chats.list.value.find((one) => one.id === id);
  if (!chat) return undefined;
  const go = async (): Promise<void> => {
    uncover(playground);
    await chats.open(id);
    if (found === undefined) return;
    const find = chatFind(chat);
    find.open();
    find.look(found);
  };
  return {
    id: `hit-${id}`,
    icon: 'search',
    title: chat.title.value || 'Untitled',
    hint: agentOf(agents, chat.agentId.value).name,
    group: 'Chats',
    ...(excerpt && { excerpt }),
    go: () => void go(),
  };
}
