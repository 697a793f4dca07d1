/** The chats of the page: which there are, which one is open, and what is done with them. */

import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { Decision } from '../../../src/permission/interruption.ts';
import type { Notes } from '../../storage/notes.ts';
import type { PlanSteering } from '../../control/page-control.ts';
import { followDrafts } from './drafts.ts';
import type { AttachedFile } from '../../files/state/attached-file.ts';
import type { PlanQuestion } from '../../plan/state/plan-data.ts';
import type { Answer } from '../../plan/state/plan-reply.ts';
import type { ChatSettings } from './chat-settings.ts';
import type { ChatStore } from './chat-storage.ts';
import { type ChatRunsOptions, createChatRuns } from './chat-runs.ts';
import { type ChatShelf, createShelf } from './chat-shelf.ts';
import { afterLast, append, type Chat, type ChatHead, createChat, headOf, isRunning, titleOf } from './chat.ts';
import { followTabs } from './follow-tabs.ts';
import { createAnswer, createTextPart, type Message, runtimeName, type ToolPart } from './message.ts';
import { createSending, isReady, type Sending } from './sending.ts';

/** The chats and what is done with them. A run goes on when another chat is opened. */
export interface Chats {
  /** Every chat with a message, the latest first. */
  readonly list: ReadonlySignal<readonly Chat[]>;
  readonly current: ReadonlySignal<Chat>;
  /** Reads the stored chats and opens the last open one. */
  restore(chatId: string | undefined): Promise<void>;
  open(chatId: string): Promise<void>;
  /** Opens an empty chat. */
  start(agentId?: string): void;
  /**
   * Sends a message in the open chat; calls that wait there are then not decided, and a plan that waits is cancelled. While an answer
   * is written, its agent receives the message.
   */
  send(text: string, files?: readonly AttachedFile[]): void;
  stop(): void;
  /**
   * Continues the last answer where its calls were decided or its plan has not ended; else requests a new one. The last one stays as
   * another version, unless it said nothing.
   */
  retry(): void;
  /** Sends a message of the open chat once more with this text. The earlier one stays as another version, with what followed it. */
  edit(messageId: string, text: string): void;
  /** Removes the files of the open chat, so that its messages work again, and asks its last question once more. */
  removeFiles(): void;
  /** Shows this version of a message of the open chat, and what followed it. */
  show(messageId: string): void;
  rename(chat: Chat, title: string): void;
  /** Sets what goes with each request of a chat. It is stored with its first message. */
  configure(chat: Chat, settings: ChatSettings): void;
  /** Puts a chat above the others, or back. */
  pin(chat: Chat, isPinned: boolean): void;
  /** Decides on a call that waits in the open chat. */
  decide(part: ToolPart, decision: Decision, send?: () => Promise<void>): Promise<void>;
  /** Answers a question of the plan in the open chat. */
  reply(question: PlanQuestion, answer: Answer, send?: (value: unknown) => Promise<void>): Promise<void>;
  /** Pauses the plan in the open chat, lets it go on, or cancels it. Does nothing with plans of endpoints. */
  steerPlan(how: PlanSteering): Promise<void>;
  /** Adds what the runtime says to the open chat, where the agent reads it as well. */
  addNotice(messageId: string, text: string): void;
  /** Adds a chat from elsewhere, stores it, and opens it. */
  adopt(chat: Chat): Promise<void>;
  remove(chatId: string): Promise<void>;
  /** The chat that was deleted here, while it can be brought back. */
  readonly removed: ReadonlySignal<Chat | undefined>;
  /** Brings the deleted chat back and opens it. */
  undoRemove(): Promise<void>;
  /** Brings back a chat that was deleted in the last 30 days. */
  restoreDeleted(head: ChatHead): Promise<void>;
  /** Lets go of the deleted chat: its plan is cancelled. */
  forgetRemoved(): void;
  /** Writes the answers that are being streamed, as when the page is put aside. */
  saveRunning(): void;
  /** The title of the open chat that another tab has deleted; until another chat is open. */
  readonly deletedElsewhere: ReadonlySignal<string | undefined>;
}

/** What the chats need. */
export interface ChatsOptions extends ChatRunsOptions {
  /** Where drafts are remembered; without it they end with the page. */
  readonly notes?: Notes | undefined;
  readonly defaultAgentId: string;
}

/** Creates the chats, at first an empty one. */
export function createChats(options: ChatsOptions): Chats {
  const { chatStore } = options;
  const shelf = createShelf(options);
  const { all, current, find } = shelf;
  const deletion = followDeletion(current);
  const elsewhere = followTabs({
    chatStore,
    find,
    isOurs: (answerId) => runs.isOurs(answerId),
    add: shelf.add,
    drop,
    onReleased: (chat) => chat === current.value && runs.rejoin(chat),
  });
  const runs = createChatRuns({ ...options, isStored: (chat) => all.value.includes(chat), onSaved: elsewhere.onSaved });
  const drafts = options.notes && followDrafts({
    notes: options.notes,
    list: () => all.value,
    current: () => current.value,
  });
  const sending = createSending({ ...options, shelf, runs, drafts });
  const removal = createRemoval((chat) => void runs.dismiss(chat));

  async function open(chat: Chat | undefined): Promise<void> {
    if (!chat) return;
    current.value = chat;
    if (chat.loaded.value === 'absent') await load(chat);
  }

  async function load(chat: Chat): Promise<void> {
    chat.loaded.value = 'loading';
    chat.all.value = await chatStore.messages(chat.id);
    chat.loaded.value = 'ready';
    elsewhere.watch(chat);
    runs.rejoin(chat);
    sending.restoreDraft(chat);
  }

  function takeOut(chat: Chat): void {
    const wasOpen = current.value === chat;
    shelf.takeOut(chat);
    if (wasOpen) sending.restoreDraft(current.value);
  }

  /** Another tab has deleted it. */
  function drop(chat: Chat): void {
    const wasOpen = current.value === chat;
    takeOut(chat);
    chat.run.value?.stop();
    if (wasOpen) deletion.show(chat);
  }

  /** Stores the head, and the messages from a place on. */
  async function save(chat: Chat, from = Infinity): Promise<void> {
    if (!find(chat.id)) return;
    await elsewhere.onSaved(chat, await chatStore.save(headOf(chat), { messages: chat.all.value, from }));
  }

  /** A person may have opened another chat meanwhile. */
  function chatOf(part: ToolPart): Chat {
    const has = (message: Message): boolean => message.role === 'assistant' && message.parts.value.includes(part);
    return all.value.find(({ messages }) => messages.value.some(has)) ?? current.value;
  }

  return {
    deletedElsewhere: deletion.title,
    list: computed(() => all.value.toSorted((a, b) => b.updatedAt.value - a.updatedAt.value)),
    current,
    ...opening({ shelf, sending, open }),
    send: (text, files = []) => sending.send(current.value, text, files),
    stop() {
      const chat = current.value;
      chat.run.value?.stop();
      if (isRunning(chat)) chatStore.tabs.emit({ type: 'stop', chatId: chat.id }); // it may be another tab's
    },
    retry: () => sending.retry(current.value),
    edit: (messageId, text) => sending.edit(current.value, messageId, text),
    removeFiles: () => sending.removeFiles(current.value),
    ...changes({ current, save }),
    decide: (part, decision, send) => runs.decide(chatOf(part), part, decision, send),
    reply: (question, answer, send) => runs.reply(current.value, question, { ...answer, ...(send && { send }) }),
    steerPlan: (how) => runs.steer(current.value, how),
    adopt: shelf.adopt,
    ...removing({ chatStore, shelf, removal, load, takeOut }),
    saveRunning: () => all.value.filter(isRunning).forEach((chat) => void runs.save(chat)),
  };
}

/** Opens chats. */
function opening(
  { shelf, sending, open }: {
    shelf: ChatShelf;
    sending: Sending;
    open: (chat: Chat | undefined) => Promise<void>;
  },
): Pick<Chats, 'restore' | 'open' | 'start'> {
  const { current, find } = shelf;
  return {
    async restore(chatId) {
      await shelf.readStored();
      if (current.value.messages.value.length === 0) await open(find(chatId));
      sending.restoreDraft(current.value);
    },
    open: (chatId) => open(find(chatId)),
    start(agentId = current.value.nextAgentId ?? current.value.agentId.value) {
      if (current.value.messages.value.length > 0 || find(current.value.id)) {
        current.value = shelf.blank(agentId);
        sending.restoreDraft(current.value);
      } else current.value.agentId.value = agentId;
    },
  };
}

/** Changes a chat besides its messages. */
function changes(
  { current, save }: { current: ReadonlySignal<Chat>; save: (chat: Chat, from?: number) => Promise<void> },
): Pick<Chats, 'show' | 'rename' | 'configure' | 'pin' | 'addNotice'> {
  return {
    addNotice(messageId, text) {
      const chat = current.value;
      const at = Date.now();
      const said = createAnswer({ id: messageId, model: runtimeName, startedAt: at, after: afterLast(chat) });
      said.parts.value = [createTextPart('text', { text, done: true })];
      said.outcome.value = { type: 'done', endedAt: at };
      append(chat, said);
      void save(chat, chat.all.value.length - 1);
    },
    show(messageId) {
      const chat = current.value;
      if (!isReady(chat)) return;
      chat.leaf.value = messageId;
      void save(chat);
    },
    rename(chat, title) {
      const name = titleOf(title);
      if (name === '' || name === chat.title.value) return;
      chat.title.value = name;
      void save(chat);
    },
    configure(chat, settings) {
      chat.settings.value = settings;
      void save(chat);
    },
    pin(chat, isPinned) {
      chat.pinned.value = isPinned;
      void save(chat);
    },
  };
}

interface RemovingParts {
  readonly chatStore: ChatStore;
  readonly shelf: ChatShelf;
  readonly removal: Removal;
  readonly load: (chat: Chat) => Promise<void>;
  readonly takeOut: (chat: Chat) => void;
}

/** Deletes chats, and brings the last one back. */
function removing(
  { chatStore, shelf, removal, load, takeOut }: RemovingParts,
): Pick<Chats, 'remove' | 'removed' | 'forgetRemoved' | 'undoRemove' | 'restoreDeleted'> {
  return {
    async remove(chatId) {
      const chat = shelf.find(chatId);
      if (!chat) return;
      if (chat.loaded.value === 'absent') await load(chat); // its plan is cancelled with it
      takeOut(chat);
      removal.start(chat);
      chat.run.value?.stop();
      await chat.run.value?.ended;
      if (!shelf.find(chatId)) await chatStore.remove(chatId);
    },
    removed: removal.removed,
    forgetRemoved: () => removal.close(),
    async undoRemove() {
      const chat = removal.undo();
      if (!chat) return;
      const isRestored = await chatStore.restore(chat.id);
      if (!isRestored) await chatStore.save(headOf(chat), { messages: chat.all.value, from: 0 });
      shelf.open(chat);
    },
    async restoreDeleted(head) {
      if (await chatStore.restore(head.id) && !shelf.find(head.id)) shelf.add(createChat(head, { loaded: 'absent' }));
    },
  };
}

/** Remembers that the open chat was deleted elsewhere, until another one is open. */
function followDeletion(
  current: ReadonlySignal<Chat>,
): { readonly title: Chats['deletedElsewhere']; show(chat: Chat): void } {
  const deleted = signal<{ readonly title: string; readonly instead: Chat } | undefined>(undefined);
  const isShown = (): boolean => deleted.value?.instead === current.value && current.value.messages.value.length === 0;
  return {
    title: computed(() => isShown() ? deleted.value?.title : undefined),
    show: (chat) => void (deleted.value = { title: chat.title.value, instead: current.value }),
  };
}

/** How long a deleted chat can be brought back. */
const undoWithinMs = 10_000;

/** The latest deletion. */
interface Removal {
  readonly removed: ReadonlySignal<Chat | undefined>;
  start(chat: Chat): void;
  /** Returns the chat to bring back, if there still is one. */
  undo(): Chat | undefined;
  /** Ends the time in which it can be brought back. */
  close(): void;
}

/** Creates the deletion of no chat. `onOver` is called with each chat that cannot be brought back any more. */
function createRemoval(onOver: (chat: Chat) => void): Removal {
  const removed = signal<Chat | undefined>(undefined);
  let timer: ReturnType<typeof setTimeout> | undefined;
  function end(): Chat | undefined {
    clearTimeout(timer);
    const chat = removed.value;
    removed.value = undefined;
    return chat;
  }
  function close(): void {
    const chat = end();
    if (chat) onOver(chat);
  }
  return {
    removed,
    close,
    start(chat) {
      close();
      removed.value = chat;
      timer = setTimeout(close, undoWithinMs);
    },
    undo: end,
  };
}
