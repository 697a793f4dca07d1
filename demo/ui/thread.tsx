import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Chat } from '../state/chat.ts';
import type { Playground } from '../state/playground.ts';
import { Answer } from './answer.tsx';
import { Icon } from './icon.tsx';
import { Swell } from './mark.tsx';
import { useFollow } from './use-follow.ts';
import { Welcome } from './welcome.tsx';

/** The open chat: its messages, or before the first of them the choice of an agent. */
export function Thread({ chat, playground }: { chat: Chat; playground: Playground }): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const follow = useFollow({ scroller, content, isOn: () => chat.messages.peek().length > 0 });
  const messages = chat.messages.value;
  const isEmpty = messages.length === 0;
  // What the person sends is seen, wherever they were.
  useEffect(() => {
    if (chat.run.value) follow.toEnd();
  }, [messages.at(-1)]);
  return (
    <div class='thread-frame'>
      <div class='thread' ref={scroller} data-testid='thread' tabIndex={-1}>
        <div class={isEmpty ? 'thread-content is-empty' : 'thread-content'} ref={content}>
          {isEmpty && (chat.loaded.value === 'ready' ? <Welcome chat={chat} playground={playground} /> : <Loading />)}
          {messages.map((message, i) =>
            message.role === 'user'
              ? <Question key={message.id} text={message.text} />
              : <Answer key={message.id} message={message} playground={playground} isLast={i === messages.length - 1} />
          )}
        </div>
      </div>
      {follow.isAway.value && !isEmpty && (
        <button
          type='button'
          class='jump'
          data-testid='jump-to-latest'
          onClick={() => follow.toEnd()}
        >
          <Icon name='down' />
          Jump to latest
        </button>
      )}
    </div>
  );
}

function Question({ text }: { text: string }): JSX.Element {
  return (
    <article class='message question' data-testid='message' data-role='user'>
      <h2 class='visually-hidden'>You</h2>
      <p>{text}</p>
    </article>
  );
}

function Loading(): JSX.Element {
  return (
    <p class='waiting is-centred' role='status'>
      <Swell />
      <span class='visually-hidden'>Reading the chat</span>
    </p>
  );
}
