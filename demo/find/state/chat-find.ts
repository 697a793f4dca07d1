/** Searches a chat. Of a long one only what is in sight is drawn, and the browser's own search would miss the rest. */

import { computed, type ReadonlySignal, type Signal, signal, untracked } from '@preact/signals';
import type { Chat } from '../../chat/state/chat.ts';
import { answerText, type Message } from '../../chat/state/message.ts';

export interface ChatFind {
  readonly isShown: Signal<boolean>;
  readonly query: Signal<string>;
  /** The places of the messages that hold what is looked for, the oldest first. */
  readonly found: ReadonlySignal<readonly number[]>;
  /** Which of them is shown; at first the newest. */
  readonly at: ReadonlySignal<number>;
  /** Counted up when the field should get the focus. */
  readonly focusRequests: Signal<number>;
  /** Looks for something else. */
  look(query: string): void;
  /** Goes to a newer one, or to an older one, and on from the other end. */
  step(by: 1 | -1): void;
  open(): void;
  close(): void;
}

/** Creates the search, closed. */
export function createChatFind({ messages }: Pick<Chat, 'messages'>): ChatFind {
  const isShown = signal(false);
  const query = signal('');
  const back = signal(0);
  const focusRequests = signal(0);
  const found = computed(() => isShown.value ? placesOf(messages.value, query.value) : []);
  const at = computed(() => Math.max(0, found.value.length - 1 - back.value));
  return {
    isShown,
    query,
    found,
    at,
    focusRequests,
    look(text) {
      query.value = text;
      back.value = 0;
    },
    step(by) {
      const count = found.value.length;
      if (count > 0) back.value = (back.value - by + count) % count;
    },
    open() {
      isShown.value = true;
      focusRequests.value++;
    },
    close: () => void (isShown.value = false),
  };
}

/** How texts and what is looked for in them are compared: letters alike, no marks of Markdown, one space. */
export function forFinding(text: string): string {
  return text.replaceAll(/[*`]/g, '').replaceAll(/\s+/g, ' ').toLowerCase();
}

function placesOf(messages: readonly Message[], query: string): number[] {
  const wanted = forFinding(query).trim();
  if (wanted === '') return [];
  return messages.flatMap((message, place) => textOf(message).includes(wanted) ? [place] : []);
}

const known = new WeakMap<Message, string>();

/** Of what has ended, the text is made once. An answer that is being written is looked through again when it has ended. */
function textOf(message: Message): string {
  const hasEnded = message.role === 'user' || message.outcome.peek().type !== 'running';
  const text = known.get(message) ??
    untracked(() => forFinding(message.role === 'user' ? message.text : answerText(message)));
  if (hasEnded) known.set(message, text);
  else void message.outcome.value;
  return text;
}
