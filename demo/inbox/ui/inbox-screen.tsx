/** Everything that waits for the person, in groups of one agent and one tool, decided on one by one or several at once. */

import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useId } from 'preact/hooks';
import * as v from 'valibot';
import type { InboxDetail } from '../../../src/runtime/index.ts';
import { OverScreen } from '../../app/frame/over-screen.tsx';
import { agentOf, type Playground } from '../../app/state/playground.ts';
import { uncover } from '../../app/state/screens.ts';
import { AskedCall } from '../../chat/state/run-data.ts';
import { ApprovalAnswers } from '../../chat/ui/approval.tsx';
import { ApprovalFacts } from '../../chat/ui/approval-facts.tsx';
import { isWriting } from '../../kit/panel-cover.ts';
import { Problem } from '../../kit/problem.tsx';
import type { WaitingDecision, WaitingItem } from '../state/inbox.ts';
import { ChangeForm } from './change-form.tsx';

/** The screen "Waiting". */
export function InboxScreen({ playground }: { playground: Playground }): JSX.Element {
  const { waiting } = playground;
  const opened = useSignal<readonly string[]>([]);
  const problem = useSignal<string | undefined>(undefined);
  useEffect(() => waiting.follow(), []);
  const decide = async (items: readonly WaitingItem[], decision: WaitingDecision): Promise<void> => {
    problem.value = undefined;
    for (const item of items) problem.value = await waiting.decide(item, decision) ?? problem.value;
  };
  const items = waiting.items.value;
  return (
    <OverScreen
      playground={playground}
      name='waiting'
      label='Waiting for you'
      title='Waiting for you'
      back='Back to the chat'
      onBack={() => uncover(playground)}
      problem={problem.value}
    >
      {items.length === 0 && <p class='inbox-empty' data-testid='inbox-empty'>Nothing waits for you.</p>}
      <div onKeyDown={(event) => onKey(event)}>
        {groupsOf(items).map((group) => (
          <Group key={keyOf(group[0])} items={group} opened={opened} playground={playground} onDecide={decide} />
        ))}
      </div>
      {items.length > 0 && <p class='field-help'>Keys: j and k go up and down, a approves, d denies what is open.</p>}
    </OverScreen>
  );
}

function keyOf(item: WaitingItem | undefined): string {
  return JSON.stringify([item?.via, item?.agentId, item?.toolId, item?.kind]);
}

function groupsOf(items: readonly WaitingItem[]): readonly (readonly WaitingItem[])[] {
  return [...Map.groupBy(items, keyOf).values()];
}

/** j and k move between the rows, a and d press the buttons of the row. */
function onKey(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  if (isWriting(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('.inbox-item > summary')];
  const row = event.target instanceof Element
    ? event.target.closest('.inbox-item')?.querySelector('summary')
    : undefined;
  const at = row ? rows.indexOf(row) : -1;
  if (event.key === 'j' || event.key === 'k') {
    event.preventDefault();
    rows[Math.max(0, Math.min(rows.length - 1, at + (event.key === 'j' ? 1 : -1)))]?.focus();
  } else if (event.key === 'a' || event.key === 'd') {
    const name = event.key === 'a' ? 'approve' : 'deny';
    row?.closest('.inbox-item')?.querySelector<HTMLElement>(`[data-testid="${name}"]`)?.click();
  }
}

interface GroupProps {
  readonly items: readonly WaitingItem[];
  readonly opened: Signal<readonly string[]>;
  readonly playground: Playground;
  readonly onDecide: (items: readonly WaitingItem[], decision: WaitingDecision) => Promise<void>;
}

function Group({ items, opened, playground, onDecide }: GroupProps): JSX.Element {
  const [{ agentId, kind, via, cannotUndo } = {} as WaitingItem] = items;
  const calls = items.filter(({ blocked }) => kind === 'approval' && !blocked);
  const unread = calls.filter(({ id }) => cannotUndo && !opened.value.includes(id));
  const name = playground.agents.some(({ id }) => id === agentId) ? agentOf(playground.agents, agentId).name : agentId;
  return (
    <section class='inbox-group' data-testid='inbox-group'>
      <header>
        <h2>{name}</h2>
        <span class='field-help'>{via === undefined ? 'In this page' : new URL(via, location.href).host}</span>
        {calls.length > 1 && (
          <button
            type='button'
            class='button'
            data-testid='approve-group'
            disabled={unread.length > 0}
            title={unread.length > 0 ? 'Open each once: this cannot be undone' : undefined}
            onClick={() => void onDecide(calls, { approved: true })}
          >
            Approve {calls.length}
          </button>
        )}
      </header>
      {items.map((item) => (
        <Row
          key={item.id}
          item={item}
          playground={playground}
          onOpen={() => {
            if (!opened.value.includes(item.id)) opened.value = [...opened.value, item.id];
          }}
          onDecide={(decision) => onDecide([item], decision)}
        />
      ))}
    </section>
  );
}

interface RowProps {
  readonly item: WaitingItem;
  readonly playground: Playground;
  readonly onOpen: () => void;
  readonly onDecide: (decision: WaitingDecision) => Promise<void>;
}

function Row({ item, playground, onOpen, onDecide }: RowProps): JSX.Element {
  const detail = useSignal<InboxDetail | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const { title, quote, subject, openedAt, expiresAt } = item;
  const load = (): void => {
    onOpen();
    if (detail.value) return;
    playground.waiting.detail(item).then(
      (found) => (detail.value = found),
      (error: unknown) => (problem.value = error instanceof Error ? error.message : 'It cannot be read'),
    );
  };
  return (
    <details
      class='inbox-item'
      data-testid='inbox-item'
      onToggle={({ currentTarget }) => currentTarget.open && load()}
    >
      <summary>
        <strong>
          {title}
          {quote !== undefined && (
            <>
              : “<bdi>{quote}</bdi>”
            </>
          )}
        </strong>
        <small>
          {subject !== 'local' && `${subject} · `}since {timeOf(openedAt)} · until {timeOf(expiresAt)}
        </small>
      </summary>
      <Problem text={problem.value} testId='inbox-item-problem' />
      {detail.value && <Detail detail={detail.value} item={item} playground={playground} onDecide={onDecide} />}
    </details>
  );
}

function timeOf(at: number): string {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  return date.toLocaleString(undefined, isToday ? { timeStyle: 'short' } : { dateStyle: 'medium', timeStyle: 'short' });
}

interface DetailProps extends Omit<RowProps, 'onOpen'> {
  readonly detail: InboxDetail;
}

function Detail({ detail: { facts, edit, blocked }, item, playground, onDecide }: DetailProps): JSX.Element {
  const id = useId();
  const reason = useSignal('');
  const isBusy = useSignal(false);
  const isChanging = useSignal(false);
  const asked = v.safeParse(AskedCall, facts);
  const { question } = facts;
  const decide = (decision: WaitingDecision): void => {
    isBusy.value = true;
    void onDecide(decision).finally(() => (isBusy.value = false));
  };
  const approval = { id: item.id, runId: item.runId, ...(asked.success && { asked: asked.output }) };
  return (
    <form
      class='approval'
      onSubmit={(event) => {
        event.preventDefault();
        decide({ approved: false, ...(reason.value.trim() && { reason: reason.value.trim() }) });
      }}
    >
      {asked.success && <ApprovalFacts id={id} approval={approval} input={edit?.input} />}
      {typeof question === 'string' && <p class='inbox-question'>{question}</p>}
      {item.cannotUndo && <p class='approval-note' data-testid='cannot-undo'>This cannot be undone.</p>}
      {blocked !== undefined && <p class='approval-note' data-testid='inbox-blocked'>{blockedWords[blocked]}</p>}
      {blocked === undefined && item.kind === 'approval' && !isChanging.value && (
        <ApprovalAnswers
          disabled={isBusy.value}
          onApprove={() => decide({ approved: true })}
          onReason={(text) => (reason.value = text)}
        />
      )}
      {blocked === undefined && item.kind === 'question' && (
        <Answer
          facts={facts}
          onAnswer={(answer) => decide({ approved: true, answer })}
        />
      )}
      {(item.kind === 'sign_in' || item.kind === 'elicitation') && <p class='field-help'>Answer it in its chat.</p>}
      <div class='button-row'>
        {edit && blocked === undefined && !isChanging.value && (
          <button type='button' class='button' data-testid='change-call' onClick={() => (isChanging.value = true)}>
            Change…
          </button>
        )}
        {item.chatId !== undefined && playground.chats.list.value.some((chat) => chat.id === item.chatId) && (
          <button
            type='button'
            class='quiet-button'
            data-testid='show-chat'
            onClick={() => void playground.chats.open(item.chatId ?? '').then(() => uncover(playground))}
          >
            Open the chat
          </button>
        )}
      </div>
      {edit && isChanging.value && (
        <ChangeForm
          edit={edit}
          disabled={isBusy.value}
          onApprove={(input) => decide({ approved: true, input })}
          onCancel={() => (isChanging.value = false)}
        />
      )}
    </form>
  );
}

const blockedWords: Readonly<Record<NonNullable<WaitingItem['blocked']>, string>> = {
  own_request: 'Another person must decide.',
  not_an_approver: 'Others are named to decide on it.',
  owner_only: 'Only the person whose agent asks can answer.',
};

/** The answer to a question of a plan: one of its options, or a text. */
function Answer(
  { facts, onAnswer }: { readonly facts: InboxDetail['facts']; readonly onAnswer: (answer: unknown) => void },
): JSX.Element {
  const text = useSignal('');
  const options: readonly unknown[] = Array.isArray(facts['options']) ? facts['options'] : [];
  if (options.length > 0) {
    return (
      <div class='button-row'>
        {options.map((option) => (
          <button
            key={String(option)}
            type='button'
            class='button'
            onClick={() => onAnswer(option)}
          >
            {String(option)}
          </button>
        ))}
      </div>
    );
  }
  return (
    <div class='approval-answers'>
      <input
        type='text'
        aria-label='Your answer'
        data-testid='inbox-answer'
        onInput={({ currentTarget }) => (text.value = currentTarget.value)}
      />
      <button type='button' class='button is-primary' data-testid='inbox-send' onClick={() => onAnswer(text.value)}>
        Answer
      </button>
    </div>
  );
}
