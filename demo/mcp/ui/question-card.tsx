import type { Playground } from '../../app/state/playground.ts';
import type { NeedData } from '../state/need-data.ts';
import type { Signal } from '@preact/signals';
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import type { McpAnswers } from '../../../src/contracts/mcp/answers.ts';
import { answeredNeed } from '../../chat/state/approval.ts';
import type { ToolPart } from '../../chat/state/message.ts';
import { Problem } from '../../kit/problem.tsx';
import { contentOf, defaultsOf, fieldsOf, type FieldValues, wrongIn } from '../state/question-form.ts';
import { QuestionFields } from './question-fields.tsx';
import { UrlQuestion } from './url-question.tsx';
import { Button } from '../../kit/button.tsx';

type Action = 'accept' | 'decline' | 'cancel';

/** What a person has filled in and not sent. It is stored nowhere. */
interface Draft {
  readonly needId: string;
  /** By the keys of the forms. */
  readonly values: Signal<Readonly<Record<string, FieldValues>>>;
  readonly wrong: Signal<Readonly<Record<string, Readonly<Record<string, string>>>>>;
  /** The keys of the addresses that were opened. */
  readonly opened: Signal<readonly string[]>;
  readonly problem: Signal<string | undefined>;
  readonly isBusy: Signal<boolean>;
}

const drafts = new WeakMap<ToolPart, Draft>();

/** The questions of a server: forms, and addresses to open. The model does not see the answers. */
export function QuestionCard(props: NeedCardProps): JSX.Element {
  const { need: { server, asks } } = props;
  const id = useId();
  const draft = draftOf(props);
  const isReady = asks.every((ask) => ask.mode === 'form' || draft.opened.value.includes(ask.key));
  const hasForm = asks.some(({ mode }) => mode === 'form');
  const send = (action: Action): void => void answer(props, draft, action);
  return (
    <form
      class='approval mcp-need'
      noValidate
      aria-labelledby={`${id}-title`}
      aria-busy={draft.isBusy.value}
      data-testid='question'
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) send('accept');
      }}
    >
      <h3 id={`${id}-title`}>{server.alias} has a question for you</h3>
      <p class='field-help'>
        From {server.host}.{' '}
        {hasForm && 'The answer goes to this server, not to the model. Do not enter passwords or keys.'}
      </p>
      {asks.map((ask) => <AskFields key={ask.key} ask={ask} draft={draft} />)}
      <Problem text={draft.problem.value} testId='question-problem' />
      <div class='button-row'>
        <Button type='submit' kind='primary' testId='question-send' disabled={draft.isBusy.value || !isReady}>
          {hasForm ? 'Send' : 'Done, continue'}
        </Button>
        {(['decline', 'cancel'] as const).map((action) => (
          <Button
            testId={`question-${action}`}
            key={action}
            disabled={draft.isBusy.value}
            onClick={() => send(action)}
          >
            {action === 'decline' ? 'Decline' : 'Cancel'}
          </Button>
        ))}
      </div>
    </form>
  );
}

function AskFields(
  { ask, draft }: { readonly ask: NeedCardProps['need']['asks'][number]; readonly draft: Draft },
): JSX.Element {
  return (
    <fieldset class='mcp-ask' data-testid='ask' data-mode={ask.mode}>
      <legend>{ask.message}</legend>
      {ask.mode === 'form'
        ? (
          <QuestionFields
            fields={fieldsOf(ask)}
            values={draft.values.value[ask.key] ?? {}}
            wrong={draft.wrong.value[ask.key] ?? {}}
            onChange={(name, value) => {
              const { values } = draft;
              values.value = { ...values.value, [ask.key]: { ...values.value[ask.key], [name]: value } };
            }}
          />
        )
        : (
          <UrlQuestion
            ask={ask}
            onOpen={() => (draft.opened.value = [...draft.opened.value, ask.key])}
          />
        )}
    </fieldset>
  );
}

function draftOf({ part, need }: NeedCardProps): Draft {
  const known = drafts.get(part);
  if (known?.needId === need.id) return known;
  const forms = need.asks.flatMap((ask) => ask.mode === 'form' ? [[ask.key, defaultsOf(fieldsOf(ask))] as const] : []);
  const draft: Draft = {
    needId: need.id,
    values: signal(Object.fromEntries(forms)),
    wrong: signal({}),
    opened: signal([]),
    problem: signal(undefined),
    isBusy: signal(false),
  };
  drafts.set(part, draft);
  return draft;
}

async function answer({ part, need, via, playground }: NeedCardProps, draft: Draft, action: Action): Promise<void> {
  draft.problem.value = undefined;
  const forms = need.asks.flatMap((ask) => ask.mode === 'form' ? [{ key: ask.key, fields: fieldsOf(ask) }] : []);
  const valuesOf = (key: string): FieldValues => draft.values.value[key] ?? {};
  draft.wrong.value = action === 'accept'
    ? Object.fromEntries(forms.map(({ key, fields }) => [key, wrongIn(fields, valuesOf(key))]))
    : {};
  if (Object.values(draft.wrong.value).some((wrong) => Object.keys(wrong).length > 0)) return;
  const contents = new Map(forms.map(({ key, fields }) => [key, contentOf(fields, valuesOf(key))]));
  const answers: McpAnswers['answers'] = Object.fromEntries(need.asks.map(({ key }) => {
    const content = contents.get(key);
    return [key, { action, ...(action === 'accept' && content && { content }) }];
  }));
  draft.isBusy.value = true;
  const runId = part.call.value.approval?.runId ?? runIdOf(part, playground);
  const sending = playground.rooms(via).then(({ mcpSignIns }) => mcpSignIns.answer(runId, need.id, answers));
  const failure = await sending.then(() => undefined, (error: unknown) => ({ error }));
  draft.isBusy.value = false;
  const { code, message } = problemIn(failure?.error);
  if (failure && (need.isOpen || code === 'invalid_argument')) {
    draft.problem.value = problems[code] ?? `${message}.`;
    return;
  }
  if (!failure) answeredNeed(part, action);
  if (need.isOpen) return;
  playground.decide(part, { approved: true }, () => failure ? Promise.reject(failure.error) : Promise.resolve());
}

/** An open question is part of the running answer. */
function runIdOf(part: ToolPart, { chats }: NeedCardProps['playground']): string {
  const holder = chats.current.value.messages.value.findLast((message) =>
    message.role === 'assistant' && message.parts.value.includes(part)
  );
  return holder?.role === 'assistant' ? holder.facts.value.run?.runId ?? '' : '';
}

function problemIn(error: unknown): { readonly code: string; readonly message: string } {
  if (!(error instanceof Error)) return { code: '', message: 'Your answer was not sent' };
  return { code: 'code' in error ? String(error.code) : '', message: error.message };
}

const problems: Readonly<Record<string, string>> = {
  not_found: 'The server no longer waits for this answer.',
  already_decided: 'This question was already answered, in another tab.',
  approval_expired: 'The question expired. Ask the agent again.',
};

/** The call, what its server needs, and where the run is. */
export interface NeedCardProps {
  readonly part: ToolPart;
  readonly need: NeedData;
  readonly via: string | undefined;
  readonly playground: Playground;
}
