import type { ComponentChildren, JSX } from 'preact';
import { useRef } from 'preact/hooks';
import type { Playground } from '../../app/state/playground.ts';
import { Answer, type InFeed } from '../../chat/ui/answer.tsx';
import { useFollow } from '../../chat/ui/use-follow.ts';

interface SmallThreadProps {
  readonly playground: Playground;
  readonly label: string;
  /** What is shown before the first message. */
  readonly children: ComponentChildren;
}

/** The messages of a chat that stands beside something else. */
export function SmallThread({ playground, label, children }: SmallThreadProps): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const messages = playground.chats.current.value.messages.value;
  useFollow({ scroller, content, isOn: () => playground.chats.current.peek().messages.peek().length > 0 });
  const inFeed = (i: number): InFeed => ({ 'aria-posinset': i + 1, 'aria-setsize': messages.length });
  return (
    <div
      class='compare-thread'
      ref={scroller}
      tabIndex={0}
      role={messages.length > 0 ? 'feed' : 'region'}
      aria-label={label}
    >
      <div ref={content}>
        {messages.length === 0 && children}
        {messages.map((message, i) =>
          message.role === 'user'
            ? (
              <article key={message.id} class='message question' {...inFeed(i)}>
                <h2 class='visually-hidden'>You</h2>
                <div class='question-bubble'>
                  <p dir='auto'>{message.text}</p>
                </div>
              </article>
            )
            : (
              <Answer
                key={message.id}
                message={message}
                playground={playground}
                isLast={i === messages.length - 1}
                inFeed={inFeed(i)}
              />
            )
        )}
      </div>
    </div>
  );
}
