/** One conversation with one agent. */

import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { AttachedFile, Written } from '../../files/state/attached-file.ts';
import { branchOf, root, type Versions } from './branches.ts';
import type { ChatSettings } from './chat-settings.ts';
import type { Message } from './message.ts';

/** A chat on the page. Its messages are read from storage when it is first opened. */
export interface Chat {
  readonly id: string;
  readonly createdAt: number;
  readonly agentId: Signal<string>;
  /** The agent of a new chat after this one, where that is not the same. */
  nextAgentId?: string;
  readonly title: Signal<string>;
  readonly updatedAt: Signal<number>;
  /** Every message, with all versions, in the order of writing. */
  readonly all: Signal<readonly Message[]>;
  /** The message that the shown versions lead to; without it, the latest one. */
  readonly leaf: Signal<string | undefined>;
  /** What is shown. */
  readonly messages: ReadonlySignal<readonly Message[]>;
  /** The shown messages that have other versions. */
  readonly versions: ReadonlySignal<ReadonlyMap<string, Versions>>;
  readonly pinned: Signal<boolean>;
  /** What goes with each request of the chat. */
  readonly settings: Signal<ChatSettings>;
  /** The message of the person that is being edited. */
  readonly editing: Signal<string | undefined>;
  /** `absent`: in storage, not read yet. */
  readonly loaded: Signal<'absent' | 'loading' | 'ready'>;
  /** The latest run of this visit; see {@link isRunning}. */
  readonly run: Signal<Run | undefined>;
  /** What is written and not sent. */
  readonly draft: Signal<string>;
  /** The files of what is written and not sent. */
  readonly attached: Signal<readonly AttachedFile[]>;
  /** Why files were not attached. */
  readonly attachProblem: Signal<string | undefined>;
  /** What was sent while an answer is written, until it has ended. */
  readonly queued: Signal<readonly QueuedMessage[]>;
}

/** A run that is going on. */
export interface Run {
  /** Cancels the run. The answer ends after {@link stopWithinMs} at the latest. */
  stop(): void;
  /** Stops reading. The run continues for a while (30 seconds by default), and its log records it. */
  leave(): void;
  /** Resumes reading after the last received chunk. Does nothing while reading. */
  readOn(): void;
  readonly reading: ReadonlySignal<Reading>;
  /** Settles when the answer has ended; never rejects. */
  readonly ended: Promise<void>;
}

/** How far a run was read. */
export interface Reading {
  /** Whether reading is paused while the run continues. */
  readonly isLeft: boolean;
  /** How many chunks had been taken in each time that the reader left. */
  readonly leftAt: readonly number[];
}

/** A message that was sent while an answer is written. */
export interface QueuedMessage extends Written {
  readonly id: string;
  /** `sent`: the running agent has it, and reads it before its next step. `next`: it is sent when the answer has ended. */
  readonly state: 'sending' | 'sent' | 'next';
}

/** The stored fields of a chat besides its messages. */
export interface ChatHead {
  readonly id: string;
  readonly agentId: string;
  readonly title: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** It stands above the other chats. */
  readonly pinned?: boolean | undefined;
  readonly settings?: ChatSettings | undefined;
  readonly leaf?: string | undefined;
  /** When it was deleted: it can be restored for {@link restorableMs}. */
  readonly deletedAt?: number | undefined;
}

/** How long a deleted chat can be restored. */
export const restorableMs = 30 * 86_400_000;

/** Tabs that send at the same moment write side by side: the answer that is being written may not be the last. */
const latest = 8;
/** The longest title, in UTF-16 code units. */
const maxTitle = 80;

/** A chat, empty or as its head describes it. */
export function createChat(head: ChatHead, { loaded = 'ready' }: { loaded?: 'absent' | 'ready' } = {}): Chat {
  const all = signal<readonly Message[]>([]);
  const leaf = signal(head.leaf);
  const branch = computed(() => branchOf(all.value, leaf.value));
  return {
    id: head.id,
    createdAt: head.createdAt,
    agentId: signal(head.agentId),
    title: signal(head.title),
    updatedAt: signal(head.updatedAt),
    all,
    leaf,
    messages: computed(() => branch.value.messages),
    versions: computed(() => branch.value.versions),
    pinned: signal(head.pinned ?? false),
    settings: signal(head.settings ?? {}),
    editing: signal(undefined),
    loaded: signal(loaded),
    run: signal(undefined),
    draft: signal(''),
    attached: signal([]),
    attachProblem: signal(undefined),
    queued: signal([]),
  };
}

/** Whether an answer is being written, here or in another tab. */
export function isRunning({ messages }: Chat): boolean {
  return messages.value.slice(-latest).some((message) =>
    message.role === 'assistant' && message.outcome.value.type === 'running'
  );
}

/** What a message that follows the last shown one says of its place: nothing in a chat without versions. */
export function afterLast({ all, messages }: Chat): string | undefined {
  if (all.value.length === messages.value.length && all.value.every(({ after }) => after === undefined)) {
    return undefined;
  }
  return messages.value.at(-1)?.id ?? root;
}

/** Adds a message, and shows it. */
export function append({ all, leaf }: Chat, message: Message): void {
  batch(() => {
    all.value = [...all.value, message];
    leaf.value = message.after === undefined ? undefined : message.id;
  });
}

/** The chat's head as it is now. */
export function headOf({ id, createdAt, agentId, title, updatedAt, pinned, settings, leaf }: Chat): ChatHead {
  return {
    id,
    createdAt,
    agentId: agentId.value,
    title: title.value,
    updatedAt: updatedAt.value,
    ...(pinned.value && { pinned: true }),
    ...(Object.keys(settings.value).length > 0 && { settings: settings.value }),
    ...(leaf.value !== undefined && { leaf: leaf.value }),
  };
}

/** A title made of the first message: its first line, cut where it gets long. */
export function titleOf(text: string): string {
  const line = text.trim().split('\n', 1)[0]?.trim() ?? '';
  if (line.length <= maxTitle) return line;
  const start = line.slice(0, maxTitle - 1).replace(/[\ud800-\udbff]$/, '');
  return `${start.trimEnd()}…`;
}

/** The sources of others that the runs of a chat have read; none in a chat of an open agent. */
export function readOf({ messages }: Chat): readonly string[] {
  const read = messages.value.flatMap((message) =>
    message.role === 'assistant' ? message.facts.value.run?.read ?? [] : []
  );
  return [...new Set(read)];
}
