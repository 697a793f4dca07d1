/** Everything that waits for the person, in groups of one agent and one tool, decided on one by one or several at once. */

import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import * as v from 'valibot';
import { toData } from '../../../src/base/errors.ts';
import { asRecord } from '../../../src/base/is-record.ts';
import type { Decision } from '../../../src/permission/interruption.ts';
import type { InboxDetail } from '../../../src/runtime/index.ts';
import type { UndoCall } from '../../../src/runtime/undo-types.ts';
import { OverScreen } from '../../app/frame/over-screen.tsx';
import { agentOf, type Playground } from '../../app/state/playground.ts';
import { uncover } from '../../app/state/screens.ts';
import { AskedCall } from '../../chat/state/run-data.ts';
import { ApprovalFacts } from '../../chat/ui/approval-facts.tsx';
import { UndoCalls } from '../../chat/ui/take-back.tsx';
import { isWriting } from '../../kit/panel-cover.ts';
import { Problem } from '../../kit/problem.tsx';
import type { PlanQuestion } from '../../plan/state/plan-data.ts';
import { PlanAnswer } from '../../plan/ui/plan-answer.tsx';
import { decideItem, type WaitingDecision } from './decide-item.ts';
import { noticePermission, type WaitingItem } from '../state/inbox.ts';
import '../style.css';
import { ChangeForm } from './change-form.tsx';
import { Button } from '../../kit/button.tsx';

/** Lets the browser show new ones, where it has not been decided. */
function Notices(): JSX.Element {
  const notices = useSignal(noticePermission());
  return (
    <>
      {notices.value === 'default' && (
        <p class='inbox-notices'>
          <Button
            testId='tell-me'
            onClick={() => void Notification.requestPermission().then((permission) => (notices.value = permission))}
          >
            Notify me
          </Button>{' '}
          <span class='field-help'>about new ones while I look at another page.</span>
        </p>
      )}
      {notices.value === 'granted' && (
        <p class='field-help' data-testid='told'>The browser shows new ones while you look at another page.</p>
      )}
    </>
  );
}

/** The screen "Waiting". */
export function InboxScreen({ playground }: { playground: Playground }): JSX.Element {
  const { waiting } = playground;
  const opened = useSignal<readonly string[]>([]);
  const problem = useSignal<string | undefined>(undefined);
  const decidedAt = useRef<number | undefined>(undefined);
  const items = waiting.items.value;
  useEffect(() => {
    waiting.follow();
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  useEffect(() => {
    if (decidedAt.current === undefined || document.activeElement !== document.body) return;
    focusRow(decidedAt.current); // the row that was decided on is gone, and the focus with it
    decidedAt.current = undefined;
  }, [items.length]);
  const decide = async (some: readonly WaitingItem[], decision: WaitingDecision): Promise<void> => {
    problem.value = undefined;
    decidedAt.current = groupsOf(items).flat().findIndex(({ id }) => id === some[0]?.id);
    for (const item of some) problem.value = await decideItem(playground, item, decision) ?? problem.value;
  };
  return (
    <OverScreen
      playground={playground}
      name='waiting'
      label='Waiting for you'
      problem={problem.value}
    >
      {items.length === 0 && (
        <p class='inbox-empty' data-testid='inbox-empty'>
          Nothing waits for you. Calls that need your approval and questions of agents appear here.
        </p>
      )}
      <Notices />
      {groupsOf(items).map((group) => (
        <Group key={keyOf(group[0])} items={group} opened={opened} playground={playground} onDecide={decide} />
      ))}
      {items.length > 0 && (
        <p class='field-help inbox-keys'>
          <kbd>j</kbd> and <kbd>k</kbd> move down and up, <kbd>a</kbd> approves and <kbd>d</kbd> denies the open call.
        </p>
      )}
    </OverScreen>
  );
}

function keyOf(item: WaitingItem | undefined): string {
  return JSON.stringify([item?.via, item?.agentId, item?.toolId, item?.kind]);
}

function groupsOf(items: readonly WaitingItem[]): readonly (readonly WaitingItem[])[] {
  return [...Map.groupBy(items, keyOf).values()];
}

/** j and k move between the rows, a and d press the buttons of an open row. */
function onKey(event: KeyboardEvent): void {
  if (isWriting(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.querySelector('dialog[open]')) return;
  const row = event.target instanceof Element ? event.target.closest<HTMLElement>('.inbox-item') : null;
  if (event.key === 'j' || event.key === 'k') {
    event.preventDefault();
    const at = row ? rows().indexOf(row) : -1;
    focusRow(Math.max(0, at + (event.key === 'j' ? 1 : -1)));
  } else if (event.key === 'a' || event.key === 'd') {
    row?.querySelector<HTMLElement>(`:scope[open] [data-testid="${event.key === 'a' ? 'approve' : 'deny'}"]`)?.click();
  }
}

function rows(): readonly HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('.inbox-item')];
}

/** Focuses a row, the last one at most. */
function focusRow(at: number): void {
  const all = rows();
  all[Math.min(at, all.length - 1)]?.querySelector('summary')?.focus();
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
          <div class='inbox-all'>
            {unread.length > 0 && <span class='field-help'>Cannot be undone. Open each call first.</span>}
            <Button
              testId='approve-group'
              disabled={unread.length > 0}
              onClick={() => void onDecide(calls, { approved: true })}
            >
              Approve {calls.length}
            </Button>
          </div>
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
    playground.waiting.inboxOf(item).then((inbox) => inbox.get(item.id)).then(
      (found) => (detail.value = found),
      (error: unknown) => (problem.value = toData(error).message),
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
          {subject !== 'local' && `${subject} · `}Since {timeOf(openedAt)} · until {timeOf(expiresAt)}
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
  const isBusy = useSignal(false);
  const isChanging = useSignal(false);
  const asked = v.safeParse(AskedCall, facts);
  const decide = (decision: WaitingDecision): void => {
    isBusy.value = true;
    void onDecide(decision).finally(() => (isBusy.value = false));
  };
  const approval = { id: item.id, runId: item.runId, ...(asked.success && { asked: asked.output }) };
  const { chats } = playground;
  const chat = chats.list.value.find((each) => each.id === item.chatId);
  const question = questionOf(item, facts);
  return (
    <div class='approval'>
      {asked.success && <ApprovalFacts id={id} approval={approval} input={edit?.input} />}
      {question.question !== '' && <p id={`${id}-question`} class='inbox-question'>{question.question}</p>}
      {item.kind === 'undo' && <UndoParts facts={facts} />}
      {item.cannotUndo && <p class='approval-note' data-testid='cannot-undo'>This cannot be undone.</p>}
      {blocked !== undefined && <p class='approval-note'>{blockedWords[blocked]}</p>}
      {blocked === undefined && !isChanging.value && isDecidedHere(item) && (
        <PlanAnswer
          question={question}
          disabled={isBusy.value}
          describedBy={`${id}-question`}
          onAnswer={(answer) =>
            // The form of an approval answers with the decision.
            decide({ ...(item.kind === 'question' ? { approved: true } : answer.value as Decision), answer })}
        />
      )}
      {!isDecidedHere(item) && <p class='field-help'>Answer it in its chat.</p>}
      {edit && isChanging.value && (
        <ChangeForm
          edit={edit}
          disabled={isBusy.value}
          onApprove={(input) => decide({ approved: true, input })}
        />
      )}
      <div class='button-row'>
        {edit && blocked === undefined && (
          <Button testId='change-call' onClick={() => (isChanging.value = !isChanging.value)}>
            {isChanging.value ? 'Cancel changes' : 'Change…'}
          </Button>
        )}
        {chat && (
          <Button kind='quiet' onClick={() => void chats.open(chat.id).then(() => uncover(playground))}>
            Open the chat
          </Button>
        )}
      </div>
    </div>
  );
}

/** Sign-ins and questions of servers are answered in their chats. */
function isDecidedHere({ kind }: WaitingItem): boolean {
  return kind !== 'sign_in' && kind !== 'elicitation';
}

/** What an undo takes back, and what it leaves. */
function UndoParts({ facts: { calls, remains } }: { facts: InboxDetail['facts'] }): JSX.Element {
  const left = undoCallsIn(remains);
  return (
    <>
      <UndoCalls calls={undoCallsIn(calls)} />
      {left.length > 0 && (
        <>
          <p>Not taken back:</p>
          <UndoCalls calls={left} />
        </>
      )}
    </>
  );
}

function undoCallsIn(value: unknown): readonly UndoCall[] {
  return Array.isArray(value) ? value as UndoCall[] : []; // the undo of a runtime has written them
}

/** What a person answers, as the form of plans has it. Only a lost call expects a decision. */
function questionOf({ id, kind }: WaitingItem, { question, options, schema }: InboxDetail['facts']): PlanQuestion {
  const isLost = 'decision' in asRecord(asRecord(schema)['properties']);
  return {
    ask: id,
    agent: '',
    kind: kind !== 'question' ? 'approval' : isLost ? 'lost_call' : 'question',
    question: typeof question === 'string' ? question : '',
    ...(Array.isArray(options) && options.length > 0 && { options: options.map(String) }),
  };
}

const blockedWords: Readonly<Record<NonNullable<WaitingItem['blocked']>, string>> = {
  own_request: 'Another person must decide.',
  not_an_approver: 'Others are named to decide on it.',
  owner_only: 'Only the person whose agent asks can answer.',
};
