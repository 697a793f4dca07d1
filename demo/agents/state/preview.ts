/** The agent as it is written now, in a chat of its own that is not stored. */

import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { agentOf, type Playground } from '../../app/state/playground.ts';
import { isRunning } from '../../chat/state/chat.ts';
import { modelLabel } from '../../settings/state/settings.ts';
import { problemOf } from '../../kit/answer-problem.ts';
import type { AgentDraft } from './agent-draft.ts';

/** A chat with an agent that is not saved. */
export interface Preview {
  /** The page of the preview, with its own chat. */
  readonly playground: Playground;
  readonly isRunning: ReadonlySignal<boolean>;
  /** Whether the form has changed since the chat started: the next message starts a new one. */
  readonly isStale: ReadonlySignal<boolean>;
  /** Why the agent cannot run as it is written. */
  readonly problem: ReadonlySignal<string | undefined>;
  /** Sends the message to the agent as it is written now. */
  send(): Promise<void>;
  stop(): void;
}

interface PreviewOptions {
  readonly playground: Playground;
  readonly agent: Pick<AgentDraft, 'control' | 'written' | 'message'>;
}

/** Creates the preview. Calls the worker only when a message is sent. */
export function createPreview({ playground, agent }: PreviewOptions): Preview {
  const { control, written: record, message: draft } = agent;
  const problem = signal<string | undefined>(undefined);
  /** What the chat runs, and the text of its record. */
  const running = signal<{ readonly id: string; readonly written: string } | undefined>(undefined);
  const written = computed(() => JSON.stringify(record.value));
  const own = playground.aside({
    agents: () => [
      { ...agentOf([], running.value?.id ?? ''), name: nameIn(record.value) },
      ...playground.agents,
    ],
    modelLabel: () => modelLabel(playground.settings.choice.value),
  });

  /** Has an agent ready that is as the form is. */
  async function prepare(): Promise<boolean> {
    const now = written.value;
    if (running.value?.written === now) return true;
    const made = await control.draftAgent(record.value ?? {}).catch(() => undefined);
    problem.value = problemOf(made, 'The worker did not respond');
    if (!made?.ok) return false;
    running.value = { id: made.value.id, written: now };
    own.chats.start(made.value.id);
    return true;
  }

  return {
    playground: own,
    problem,
    isRunning: computed(() => isRunning(own.chats.current.value)),
    isStale: computed(() => running.value !== undefined && running.value.written !== written.value),
    stop: () => own.chats.stop(),
    async send() {
      const text = draft.value;
      if (text.trim() === '' || !await prepare()) return;
      if (own.send(text)) draft.value = '';
    },
  };
}

function nameIn(record: object | undefined): string {
  const { name } = (record ?? {}) as { readonly name?: unknown };
  return typeof name === 'string' && name.trim() !== '' ? name : 'New agent';
}
