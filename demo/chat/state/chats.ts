/** The chats of the page: which there are, which one is open, and what is done with them. */

import { batch, computed, type ReadonlySignal, signal } from '@preact/signals';
import type { Decision } from '../../../src/permission/interruption.ts';
import type { PlanSteering } from '../../app/worker/control.ts';
import { parentOf } from './branches.ts';
import { afterLast, append, type Chat, createChat, headOf, isRunning, titleOf } from './chat.ts';
import { type ChatRunsOptions, createChatRuns } from './chat-runs.ts';
import { createRemoval } from './removal.ts';
import { followTabs } from './follow-tabs.ts';
import type { ChatStore } from '../store/chat-store.ts';
import type { AssistantMessage, ToolPart } from './message.ts';
import type { AttachedFile, Written } from '../../files/state/attached-file.ts';
import { queueMessage } from '../../composer/state/queue.ts';
import { followDrafts } from '../../composer/state/drafts.ts';
import type { Notes } from '../../app/state/notes.ts';
import type { PlanQuestion } from '../../plan/state/plan-data.ts';
import type { Answer } from '../../plan/state/plan-reply.ts';

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
  /** Shows this version of a message of the open chat, and what followed it. */
  show(messageId: string): void;
  rename(chat: Chat, title: string): void;
  /** Puts a chat above the others, or back. */
  pin(chat: Chat, isPinned: boolean): void;
  /** Decides on a call that waits in the open chat. */
  decide(part: ToolPart, decision: Decision): Promise<void>;
  /** Answers a question of the plan in the open chat. */
  reply(question: PlanQuestion, answer: Answer): Promise<void>;
  /** Pauses the plan in the open chat, lets it go on, or cancels it. Does nothing with plans of endpoints. */
  steerPlan(how: PlanSteering): Promise<void>;
  /** Adds a chat from elsewhere, stores it, and opens it. */
  adopt(chat: Chat): Promise<void>;
  remove(chatId: string): Promise<void>;
  /** The chat that was deleted here, while it can be brought back. */
  readonly removed: ReadonlySignal<Chat | undefined>;
  /** Brings the deleted chat back and opens it. */
  undoRemove(): Promise<void>;
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
  const { chatStore, now, createId, defaultAgentId } = options;
  const all = signal<readonly Chat[]>([]);
  const current = signal(blank(defaultAgentId));
  const deleted = signal<{ readonly title: string; readonly instead: Chat } | undefined>(undefined);
  const find = (chatId: string | undefined): Chat | undefined => all.value.find(({ id }) => id === chatId);
  const elsewhere = followTabs({
    chatStore,
    find,
    isOurs: (answerId) => runs.isOurs(answerId),
    add: (chat) => void (all.value = [...all.value, chat]),
    drop,
    onReleased: (chat) => chat === current.value && runs.rejoin(chat),
  });
  const runs = createChatRuns({ ...options, isStored: (chat) => all.value.includes(chat), onSaved: elsewhere.onSaved });

  function blank(agentId: string): Chat {
    return createChat({ id: createId(), agentId, title: '', createdAt: now(), updatedAt: now() });
  }

  const removal = createRemoval((chat) => void runs.dismiss(chat));
  const drafts = options.notes && followDrafts({
    notes: options.notes,
    list: () => all.value,
    current: () => current.value,
  });

  /** What waited for an answer waits again; where the answer has ended, it is back in the composer. */
  function restoreDraft(chat: Chat): void {
    const waiting = drafts?.restore(chat) ?? [];
    if (isRunning(chat)) {
      for (const { id, text } of waiting) {
        queueMessage(chat, { text }, {
          ...options,
          createId: () => id,
          send: sendNext,
        });
      }
    } else if (waiting.length > 0) {
      const texts = [...waiting.map(({ text }) => text), chat.draft.value];
      chat.draft.value = texts.filter((text) => text.trim() !== '').join('\n\n');
    }
  }

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
    restoreDraft(chat);
  }

  /** Another tab has deleted it. */
  function drop(chat: Chat): void {
    const wasOpen = current.value === chat;
    takeOut(chat);
    chat.run.value?.stop();
    if (wasOpen) deleted.value = { title: chat.title.value, instead: current.value };
  }

  function takeOut(chat: Chat): void {
    batch(() => {
      all.value = all.value.filter((other) => other !== chat);
      if (current.value !== chat) return;
      current.value = blank(chat.agentId.value);
      restoreDraft(current.value);
    });
  }

  function sendIn(chat: Chat, { text, files = [] }: Written): void {
    if (!find(chat.id)) {
      chat.title.value = titleOf(text === '' ? files[0]?.name ?? '' : text);
      all.value = [...all.value, chat];
    }
    if (runs.dismiss(chat)) void runs.save(chat);
    add(chat, { text, files }, afterLast(chat));
  }

  /** Adds a person's message, and requests its answer. */
  function add(chat: Chat, { text, files = [] }: Written, after: string | undefined): void {
    chat.updatedAt.value = now();
    const from = chat.all.value.length;
    append(chat, {
      role: 'user',
      id: createId(),
      text,
      ...(files.length > 0 && { files: signal(files) }),
      ...(after !== undefined && { after }),
    });
    runs.ask(chat, from);
  }

  /** Stores the head. */
  async function save(chat: Chat): Promise<void> {
    if (!find(chat.id)) return;
    await elsewhere.onSaved(chat, await chatStore.save(headOf(chat), { messages: chat.all.value, from: Infinity }));
  }

  /** Sends what an answer has not taken, unless its chat was deleted meanwhile. */
  function sendNext(chat: Chat, written: Written): void {
    if (find(chat.id)) sendIn(chat, written);
  }

  return {
    deletedElsewhere: computed(() =>
      deleted.value?.instead === current.value && current.value.messages.value.length === 0
        ? deleted.value.title
        : undefined
    ),
    list: computed(() => all.value.toSorted((a, b) => b.updatedAt.value - a.updatedAt.value)),
    current,
    async restore(chatId) {
      all.value = [...all.value, ...await readChats(chatStore, all.value)];
      if (current.value.messages.value.length === 0) await open(find(chatId));
      restoreDraft(current.value);
    },
    open: (chatId) => open(find(chatId)),
    start(agentId = current.value.agentId.value) {
      if (current.value.messages.value.length > 0 || find(current.value.id)) {
        current.value = blank(agentId);
        restoreDraft(current.value);
      } else current.value.agentId.value = agentId;
    },
    send(text, files = []) {
      const chat = current.value;
      if ((text.trim() === '' && files.length === 0) || chat.loaded.value !== 'ready') return;
      const written = { text: text.trim(), files };
      if (isRunning(chat)) queueMessage(chat, written, { ...options, send: sendNext });
      else sendIn(chat, written);
    },
    stop() {
      const chat = current.value;
      chat.run.value?.stop();
      if (isRunning(chat)) chatStore.tabs.emit({ type: 'stop', chatId: chat.id }); // it may be another tab's
    },
    retry() {
      const chat = current.value;
      const last = chat.messages.value.at(-1);
      if (!last || !isReady(chat) || runs.goOn(chat)) return;
      if (last.role === 'user') return runs.ask(chat, chat.all.value.length);
      if (isWorthKeeping(last)) {
        return runs.ask(chat, chat.all.value.length, { after: parentOf(chat.all.value, last.id) });
      }
      chat.all.value = chat.all.value.filter((message) => message !== last);
      runs.ask(chat, chat.all.value.length, { after: last.after, dropped: last.id });
    },
    edit(messageId, text) {
      const chat = current.value;
      const edited = chat.messages.value.find(({ id }) => id === messageId);
      if (edited?.role !== 'user' || !isReady(chat) || (text.trim() === '' && !edited.files)) return;
      if (runs.dismiss(chat)) void runs.save(chat);
      const files = edited.files?.value;
      add(chat, { text: text.trim(), files }, parentOf(chat.all.value, messageId));
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
    pin(chat, isPinned) {
      chat.pinned.value = isPinned;
      void save(chat);
    },
    decide: (part, decision) => runs.decide(current.value, part, decision),
    reply: (question, answer) => runs.reply(current.value, question, answer),
    steerPlan: (how) => runs.steer(current.value, how),
    async adopt(chat) {
      if (!find(chat.id)) all.value = [...all.value, chat];
      current.value = chat;
      await chatStore.save(headOf(chat), { messages: chat.all.value, from: 0 });
    },
    async remove(chatId) {
      const chat = find(chatId);
      if (!chat) return;
      if (chat.loaded.value === 'absent') await load(chat); // to be able to bring it back
      takeOut(chat);
      removal.start(chat);
      chat.run.value?.stop();
      await chat.run.value?.ended;
      if (!find(chatId)) await chatStore.remove(chatId);
    },
    removed: removal.removed,
    forgetRemoved: () => removal.close(),
    async undoRemove() {
      const chat = removal.undo();
      if (!chat) return;
      await chatStore.save(headOf(chat), { messages: chat.all.value, from: 0 });
      all.value = [...all.value.filter((other) => other.id !== chat.id), chat];
      current.value = chat;
    },
    saveRunning: () => all.value.filter(isRunning).forEach((chat) => void runs.save(chat)),
  };
}

function isReady(chat: Chat): boolean {
  return chat.loaded.value === 'ready' && !isRunning(chat);
}

/** The stored chats that are not loaded yet. Their messages are read when they are opened. */
async function readChats(chatStore: ChatStore, here: readonly Chat[]): Promise<Chat[]> {
  const known = new Set(here.map(({ id }) => id));
  const heads = await chatStore.heads();
  return heads.filter(({ id }) => !known.has(id)).map((head) => createChat(head, { loaded: 'absent' }));
}

/** Whether the answer says or has done something. */
function isWorthKeeping({ parts, outcome }: AssistantMessage): boolean {
  return outcome.value.type === 'done' || parts.value.some(({ type }) => type !== 'step');
}
