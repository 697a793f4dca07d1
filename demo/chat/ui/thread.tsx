/** The keys of the thread, as the WAI-ARIA feed pattern has them: from message to message, to the first and to the last. */

import { useComputed, useSignalEffect } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Playground } from '../../app/state/playground.ts';
import { Files } from '../../files/ui/lazy-files.tsx';
import { chatFind } from '../../find/ui/chat-find.ts';
import { CopyButton } from '../../kit/copy-button.tsx';
import { Icon } from '../../kit/icon.tsx';
import { lazy } from '../../kit/lazy.tsx';
import { Swell } from '../../kit/mark.tsx';
import { isWriting } from '../../kit/panel-cover.ts';
import { Welcome } from '../../welcome/ui/welcome.tsx';
import { type Chat, isRunning } from '../state/chat.ts';
import type { Message, UserMessage } from '../state/message.ts';
import { Answer, type InFeed } from './answer.tsx';
import { useFollow } from './use-follow.ts';
import { useWindow } from './use-window.ts';
import { VersionSwitch } from './versions.tsx';
import { Button } from '../../kit/button.tsx';

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
          <Pieces pieces={pieces} messages={messages} chat={chat} playground={playground} />
        </div>
      </div>
      {follow.isAway.value && !isEmpty && <JumpButton onJump={() => follow.toEnd()} />}
    </div>
  );
}

interface PiecesProps {
  readonly pieces: ReturnType<typeof useWindow>['pieces'];
  readonly messages: readonly Message[];
  readonly chat: Chat;
  readonly playground: Playground;
}

/** The messages that are drawn, and room for the others. */
function Pieces({ pieces, messages, chat, playground }: PiecesProps): JSX.Element {
  return (
    <>
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
    </>
  );
}

function JumpButton({ onJump }: { readonly onJump: () => void }): JSX.Element {
  return (
    <button
      type='button'
      class='jump'
      data-testid='jump-to-latest'
      onClick={() => onJump()}
    >
      <Icon name='down' />
      Jump to latest
    </button>
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

const EditQuestion = lazy(async () => (await import('./edit-question.tsx')).EditQuestion);

interface QuestionProps {
  readonly message: UserMessage;
  readonly chat: Chat;
  readonly playground: Playground;
  readonly inFeed: InFeed;
}

/** What the person wrote, and what can be done with it. */
function Question({ message, chat, playground, inFeed }: QuestionProps): JSX.Element {
  const { id, text, files } = message;
  const isEdited = chat.editing.value === id;
  return (
    <article class='message question' aria-label='You' data-testid='message' data-role='user' {...inFeed}>
      <h2 class='visually-hidden'>You</h2>
      {isEdited ? <EditQuestion message={message} chat={chat} playground={playground} /> : (
        <>
          <div class='question-bubble'>
            {text !== '' && <p dir='auto'>{text}</p>}
            {files && <Files files={files.value} playground={playground} />}
          </div>
          <div class='question-actions'>
            <VersionSwitch chat={chat} messageId={id} chats={playground.chats} />
            {text !== '' && <CopyButton text={() => text} label='Copy' />}
            {!isRunning(chat) && (
              <Button kind='quiet' icon='rename' testId='edit-question' onClick={() => (chat.editing.value = id)}>
                <span>Edit</span>
              </Button>
            )}
          </div>
        </>
      )}
    </article>
  );
}

/** The thread as it is drawn. */
interface Feed {
  readonly scroller: HTMLElement;
  /** Messages in all, those that are not drawn among them. */
  readonly count: number;
}

/** Returns the place of the message that a key goes to; none where the browser scrolls, as through a message that is higher than the thread. */
export function placeByKey(event: KeyboardEvent, { scroller, count }: Feed): number | undefined {
  const { key, target } = event;
  const isPlain = !event.defaultPrevented && !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey;
  if (!isPlain || isWriting(target) || !(target instanceof Element)) return undefined;
  if (key === 'Home') return 0;
  if (key === 'End') return count - 1;
  if (key !== 'PageDown' && key !== 'PageUp') return undefined;
  const own = target.closest('[aria-posinset]');
  const message = own ?? firstInSight(scroller);
  if (!message) return undefined;
  const [visible, { top, bottom }] = [scroller.getBoundingClientRect(), message.getBoundingClientRect()];
  const place = Number(message.getAttribute('aria-posinset')) - 1;
  const isOver = key === 'PageDown' ? bottom > visible.bottom + 1 : top < visible.top - 1;
  if (isOver) return own ? undefined : place;
  const next = key === 'PageDown' ? place + 1 : place - 1;
  return next >= 0 && next < count ? next : undefined;
}

function firstInSight(scroller: HTMLElement): Element | undefined {
  const { top } = scroller.getBoundingClientRect();
  return [...scroller.querySelectorAll('[aria-posinset]')].find((one) => one.getBoundingClientRect().bottom > top);
}
