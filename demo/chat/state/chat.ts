/** One conversation with one agent. */

import { type Signal, signal } from '@preact/signals';
import type { AttachedFile, Written } from '../../files/state/attached-file.ts';
import type { Message } from './message.ts';
import type { Run } from './run.ts';

/** A chat on the page. Its messages are read from storage when it is first opened. */
export interface Chat {
  readonly id: string;
  readonly createdAt: number;
  readonly agentId: Signal<string>;
  readonly title: Signal<string>;
  readonly updatedAt: Signal<number>;
  readonly messages: Signal<readonly Message[]>;
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
}

/** Tabs that send at the same moment write side by side: the answer that is being written may not be the last. */
const latest = 8;
/** The longest title, in UTF-16 code units. */
const maxTitle = 80;

/** A chat, empty or as its head describes it. */
export function createChat(head: ChatHead, { loaded = 'ready' }: { loaded?: 'absent' | 'ready' } = {}): Chat {
  return {
    id: head.id,
    createdAt: head.createdAt,
    agentId: signal(head.agentId),
    title: signal(head.title),
    updatedAt: signal(head.updatedAt),
    messages: signal([]),
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

/** The chat's head as it is now. */
export function headOf({ id, createdAt, agentId, title, updatedAt }: Chat): ChatHead {
  return { id, createdAt, agentId: agentId.value, title: title.value, updatedAt: updatedAt.value };
}

/** A title made of the first message: its first line, cut where it gets long. */
export function titleOf(text: string): string {
  const line = text.trim().split('\n', 1)[0]?.trim() ?? '';
  if (line.length <= maxTitle) return line;
  const start = line.slice(0, maxTitle - 1).replace(/[\ud800-\udbff]$/, '');
  return `${start.trimEnd()}…`;
}
