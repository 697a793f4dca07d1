import { useEffect, useState } from 'react';
import { type ChatEntry, deleteChat, listChats, storeChats } from './chat.ts';
import { ChatView } from './chat-view.tsx';

/** The list of chats, and the one that is read. */
export function App() {
  const [chats, setChats] = useState(listChats);
  const [id, setId] = useState(() => chats[0]?.id ?? crypto.randomUUID());
  useEffect(() => storeChats(chats), [chats]);
  const add = (entry: ChatEntry): void =>
    setChats((chats) => chats.some(({ id }) => id === entry.id) ? chats : [entry, ...chats]);
  const remove = (gone: string): void => {
    void deleteChat(gone);
    setChats((chats) => chats.filter(({ id }) => id !== gone));
    if (gone === id) setId(crypto.randomUUID());
  };
  return (
    <>
      <nav aria-label='Chats'>
        <button type='button' onClick={() => setId(crypto.randomUUID())}>
          New chat
        </button>
        <ul>
          {chats.map((chat) => (
            <li key={chat.id}>
              <button
                type='button'
                aria-current={chat.id === id}
                onClick={() => setId(chat.id)}
              >
                {chat.title}
              </button>
              <button
                type='button'
                aria-label={`Delete ${chat.title}`}
                onClick={() => remove(chat.id)}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      </nav>
      <ChatView key={id} id={id} onFirstMessage={add} />
    </>
  );
}
