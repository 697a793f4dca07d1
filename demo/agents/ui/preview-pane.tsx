/** The agent as it is written now, in a chat of its own that is not stored. */

import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { agentOf, type Playground } from '../../app/state/playground.ts';
import { isRunning } from '../../chat/state/chat.ts';
import { Answer, type InFeed } from '../../chat/ui/answer.tsx';
import { useFollow } from '../../chat/ui/use-follow.ts';
import { problemOf } from '../../kit/answer-problem.ts';
import { oncePer } from '../../kit/hooks/once-per.ts';
import { Icon } from '../../kit/icon.tsx';
import { Problem } from '../../kit/problem.tsx';
import { modelLabel } from '../../settings/state/settings.ts';
import type { AgentDraft } from '../state/agent-draft.ts';

/** A chat with the agent as it is written, beside its form. */
export function PreviewPane({ draft, playground }: { draft: AgentDraft; playground: Playground }): JSX.Element {
  const preview = previewOf(draft)(playground);
  return (
    <aside class='builder-preview' aria-label='Preview' data-testid='builder-preview'>
      <h2>Preview</h2>
      <Problem text={preview.problem.value} testId='preview-problem' />
      <SmallThread playground={preview.playground} label='Preview chat'>
        <p class='registry-faint'>Chat with the agent as it is now. Nothing is saved.</p>
      </SmallThread>
      {preview.isStale.value && (
        <p class='registry-faint' role='status' data-testid='preview-stale'>
          The agent has changed. The next message starts a new chat.
        </p>
      )}
      <SmallComposer
        draft={draft.message}
        isBusy={preview.isRunning.value}
        label='Message to the preview'
        sendLabel='Send'
        stopLabel='Stop'
        name='preview'
        onSend={() => void preview.send()}
        onStop={() => preview.stop()}
      />
    </aside>
  );
}

/** The chat of the preview stays as long as the form does. */
const previewOf = oncePer((draft: AgentDraft) =>
  oncePer((playground: Playground): Preview => createPreview({ agent: draft, playground }))
);

interface SmallThreadProps {
  readonly playground: Playground;
  readonly label: string;
  /** What is shown before the first message. */
  readonly children: ComponentChildren;
}

/** The messages of a chat that stands beside something else. */
function SmallThread({ playground, label, children }: SmallThreadProps): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const messages = playground.chats.current.value.messages.value;
  useFollow({ scroller, content, isOn: () => playground.chats.current.peek().messages.peek().length > 0 });
  const inFeed = (i: number): InFeed => ({ 'aria-posinset': i + 1, 'aria-setsize': messages.length });
  return (
    <div
      class='preview-thread'
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

interface SmallComposerProps {
  readonly draft: Signal<string>;
  readonly isBusy: boolean;
  readonly label: string;
  readonly sendLabel: string;
  readonly stopLabel: string;
  /** The test ids start with it. */
  readonly name: string;
  readonly onSend: () => void;
  readonly onStop: () => void;
}

/** A field for a message with one button. Enter sends. */
function SmallComposer(
  { draft, isBusy, label, sendLabel, stopLabel, name, onSend, onStop }: SmallComposerProps,
): JSX.Element {
  const send = (): void => {
    if (!isBusy) onSend();
  };
  return (
    <form
      class='composer preview-composer'
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        data-testid={`${name}-text`}
        aria-label={label}
        placeholder={label}
        rows={2}
        enterkeyhint='send'
        value={draft.value}
        onInput={({ currentTarget }) => (draft.value = currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      <div class='composer-foot'>
        <p class='hints'>
          <span>
            <kbd>Enter</kbd> sends
          </span>
        </p>
        {isBusy
          ? (
            <button type='button' class='send is-stop' data-testid={`${name}-stop`} onClick={onStop}>
              <Icon name='stop' /> {stopLabel}
            </button>
          )
          : (
            <button type='submit' class='send' data-testid={`${name}-send`} disabled={draft.value.trim() === ''}>
              <Icon name='send' /> {sendLabel}
            </button>
          )}
      </div>
    </form>
  );
}

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
