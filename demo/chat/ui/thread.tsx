import { useComputed, useSignalEffect } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Chat } from '../state/chat.ts';
import type { Message } from '../state/message.ts';
import type { Playground } from '../../app/state/playground.ts';
import { Answer } from './answer.tsx';
import { chatFind } from '../../find/ui/chat-find.ts';
import { Icon } from '../../kit/icon.tsx';
import { lazy } from '../../kit/lazy.tsx';
import { Swell } from '../../kit/mark.tsx';
import { Question } from './question.tsx';
import { placeByKey } from './feed-keys.ts';
import { useFollow } from './use-follow.ts';
import { useWindow } from './use-window.ts';
import { Welcome } from '../../welcome/ui/welcome.tsx';

const FindBar = lazy(async () => (await import('../../find/ui/find-bar.tsx')).FindBar);

/** The open chat: its messages, or before the first of them the choice of an agent. */
export function Thread({ chat, playground }: { chat: Chat; playground: Playground }): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const follow = useFollow({ scroller, content, isOn: () => chat.messages.peek().length > 0 });
  const { pieces, reveal, goTo } = useWindow({ chat, scroller, content, isFollowing: () => follow.isFollowing() });
  const messages = chat.messages.value;
  const isEmpty = messages.length === 0;
  const find = chatFind(chat);
  const foundPlace = useComputed(() => find.isShown.value ? find.found.value[find.at.value] : undefined);
  useSignalEffect(() => {
    if (foundPlace.value === undefined) return;
    follow.leave();
    reveal(foundPlace.value);
  });
  const onKeyDown = (event: KeyboardEvent): void => {
    const place = scroller.current && placeByKey(event, { scroller: scroller.current, count: messages.length });
    if (typeof place !== 'number' || place < 0) return;
    event.preventDefault();
    follow.leave();
    goTo(place, event.key === 'End' ? 'end' : 'start');
  };
  // Scroll to what the person sends.
  useEffect(() => {
    if (chat.run.value) follow.toEnd();
  }, [messages.at(-1)]);
  return (
    <div class='thread-frame'>
      {find.isShown.value && !isEmpty && (
        <FindBar
          find={find}
          content={() => content.current}
          onClose={() => {
            find.close();
            playground.focusRequests.value++;
          }}
        />
      )}
      <div
        class='thread'
        ref={scroller}
        data-testid='thread'
        tabIndex={isEmpty ? -1 : 0}
        onKeyDown={onKeyDown}
        {...!isEmpty && messagesRole}
      >
        <div class={isEmpty ? 'thread-content is-empty' : 'thread-content'} ref={content}>
          {isEmpty && (chat.loaded.value === 'ready' ? <Welcome chat={chat} playground={playground} /> : <Loading />)}
          {pieces.map((piece) => {
            const message = messages[piece.place];
            return 'height' in piece || !message
              ? <Room key={`room-${piece.place}`} height={'height' in piece ? piece.height : 0} />
              : (
                <Entry
                  key={message.id}
                  message={message}
                  chat={chat}
                  place={piece.place}
                  count={messages.length}
                  playground={playground}
                />
              );
          })}
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

/** The thread as screen readers have it, and as the keyboard scrolls it. */
const messagesRole = { role: 'feed', 'aria-label': 'Messages' } as const;

/** Messages that are not drawn. */
function Room({ height }: { height: number }): JSX.Element {
  return <div class='thread-room' aria-hidden='true' style={{ height: `${height}px` }} />;
}

interface EntryProps {
  readonly message: Message;
  readonly chat: Chat;
  readonly place: number;
  readonly count: number;
  readonly playground: Playground;
}

/** A message. It is not compared again when only what is in sight has changed. */
function Entry({ message, chat, place, count, playground }: EntryProps): JSX.Element {
  return useMemo(() => {
    const inFeed = { 'tabIndex': -1, 'aria-posinset': place + 1, 'aria-setsize': count } as const;
    return message.role === 'user'
      ? <Question message={message} chat={chat} playground={playground} inFeed={inFeed} />
      : <Answer message={message} playground={playground} isLast={place === count - 1} inFeed={inFeed} />;
  }, [message, place, count]);
}

function Loading(): JSX.Element {
  return (
    <p class='waiting is-centred' role='status'>
      <Swell />
      <span class='visually-hidden'>Loading the chat</span>
    </p>
  );
}
