import { useChat } from '@ai-sdk/react';
import { useEffect } from 'react';
import { type ChatEntry, openChat, storeMessages } from './chat.ts';
import { Composer } from './composer.tsx';
import { MessageView } from './message.tsx';

const examples = [
  'What is the weather in Oslo?',
  'Send mail to ada@ship.example',
  'Write 300 words about tides',
];

interface ChatViewProps {
  id: string;
  onFirstMessage: (entry: ChatEntry) => void;
}

/** One chat: its messages, and the field for the next one. */
export function ChatView({ id, onFirstMessage }: ChatViewProps) {
  const {
    messages,
    status,
    error,
    sendMessage,
    stop,
    regenerate,
    addToolApprovalResponse,
  } = useChat({ chat: openChat(id) });
  useEffect(() => {
    if (messages.length > 0) storeMessages(id, messages);
  }, [id, status]);
  const isRunning = status === 'submitted' || status === 'streaming';
  const send = (
    message: { text: string; files?: FileList },
    body: { output?: unknown } = {},
  ): void => {
    onFirstMessage({ id, title: message.text.slice(0, 40) });
    void sendMessage(message, { body });
  };
  return (
    <main>
      <h1>Helper</h1>
      <section aria-label='Messages' aria-live='polite' aria-busy={isRunning}>
        {messages.map((message) => (
          <MessageView
            key={message.id}
            message={message}
            onDecide={(id, approved) => void addToolApprovalResponse({ id, approved })}
          />
        ))}
        {messages.length === 0 && <Examples onChoose={(text) => send({ text })} />}
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
        onSend={(message, output) => send(message, { output })}
        onStop={() => void stop()}
      />
    </main>
  );
}

function Examples({ onChoose }: { onChoose: (text: string) => void }) {
  return (
    <ul className='examples'>
      {examples.map((text) => (
        <li key={text}>
          <button type='button' onClick={() => onChoose(text)}>
            {text}
          </button>
        </li>
      ))}
    </ul>
  );
}
