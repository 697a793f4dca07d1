import { useChat } from '@ai-sdk/react';
import { useEffect, useState } from 'react';
import { openChat, storeMessages } from './chat.ts';
import { Composer } from './composer.tsx';
import { MessageView } from './message.tsx';

const examples = [
  'What is the weather in Oslo?',
  'Send mail to ada@ship.example',
  'Write 300 words about tides',
];

export function App() {
  const [chat, setChat] = useState(openChat);
  const {
    messages,
    status,
    error,
    sendMessage,
    stop,
    regenerate,
    addToolApprovalResponse,
  } = useChat({
    chat,
    resume: true, // joins a run that is under way, also after a reload
  });
  useEffect(() => storeMessages(chat, messages), [chat, status]);
  const isRunning = status === 'submitted' || status === 'streaming';
  return (
    <main>
      <header>
        <h1>Helper</h1>
        <button
          type='button'
          onClick={() => setChat(openChat(crypto.randomUUID()))}
          disabled={isRunning}
        >
          New chat
        </button>
      </header>
      <section aria-label='Messages' aria-live='polite' aria-busy={isRunning}>
        {messages.map((message) => (
          <MessageView
            key={message.id}
            message={message}
            onDecide={(id, approved) => void addToolApprovalResponse({ id, approved })}
          />
        ))}
        {messages.length === 0 && (
          <ul className='examples'>
            {examples.map((text) => (
              <li key={text}>
                <button
                  type='button'
                  onClick={() => void sendMessage({ text })}
                >
                  {text}
                </button>
              </li>
            ))}
          </ul>
        )}
        {status === 'submitted' && <p className='note'>Waiting for the agent…</p>}
        {error && (
          <p className='error' role='alert'>
            {error.message}{' '}
            <button type='button' onClick={() => void regenerate()}>
              Try again
            </button>
          </p>
        )}
      </section>
      <Composer
        isRunning={isRunning}
        onSend={(message, output) => void sendMessage(message, { body: { output } })}
        onStop={() => void stop()}
      />
    </main>
  );
}
