import type { JSX } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { summarize } from '../../kit/format.ts';
import { editableCalls, type ForkDraft } from '../state/fork-draft.ts';
import type { Travel } from '../state/travel.ts';
import { Choice } from '../../kit/choice.tsx';
import { Button } from '../../kit/button.tsx';

interface ForkFormProps {
  readonly travel: Travel;
  readonly onFork: (forkId: string) => void;
}

/** What to change before the fork starts. What stays as it is, is as in the run. */
export function ForkForm({ travel, onFork }: ForkFormProps): JSX.Element | null {
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>('textarea, input')?.focus(), []);
  const draft = travel.draft.value;
  if (!draft) return null;
  const { isStarting: { value: isStarting } } = travel;
  const start = async (): Promise<void> => {
    const forkId = await travel.start();
    if (forkId !== undefined) onFork(forkId);
    else form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  };
  return (
    <form
      ref={form}
      class='fork-form'
      aria-label={`Fork from step ${draft.atStep}`}
      data-testid='fork-form'
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.preventDefault(); // closes the form, not the page
        travel.close();
      }}
    >
      <Field
        label={draft.atStep === 1 ? 'Message' : 'Add a message before this step'}
        name='message'
        rows={2}
        value={draft.message}
        placeholder={draft.atStep === 1 ? 'Same as the run' : 'None'}
        onInput={(message) => travel.change({ message })}
      />
      <Outputs draft={draft} travel={travel} />
      <Field
        label='Instructions'
        name='instructions'
        rows={4}
        value={draft.instructions}
        placeholder='Same as the run'
        onInput={(instructions) => travel.change({ instructions })}
      />
      <ModelFields draft={draft} travel={travel} />
      <Effects draft={draft} travel={travel} />
      <div class='button-row'>
        <Button type='submit' kind='primary' testId='fork-start' disabled={isStarting}>
          Start fork
        </Button>
        <Button onClick={() => travel.close()}>Cancel</Button>
      </div>
    </form>
  );
}

interface PartProps {
  readonly draft: ForkDraft;
  readonly travel: Travel;
}

function Outputs({ draft, travel }: PartProps): JSX.Element | null {
  const run = travel.run.value;
  const calls = run ? editableCalls(run, draft.atStep) : [];
  if (calls.length === 0) return null;
  return (
    <fieldset class='fork-outputs'>
      <legend>Tool results before this step</legend>
      {calls.map(({ id, tool, input }) => (
        <Field
          key={id}
          label={`${tool} (${summarize(input)})`}
          name={`output-${id}`}
          testId='output'
          rows={3}
          isCode
          value={draft.outputs[id] ?? ''}
          problem={travel.wrong.value[id]}
          onInput={(text) => travel.change({ outputs: { ...travel.draft.peek()?.outputs, [id]: text } })}
        />
      ))}
    </fieldset>
  );
}

function ModelFields({ draft, travel }: PartProps): JSX.Element {
  const providers = travel.providers.value.filter(({ id, state }) => state === 'active' || id === draft.providerId);
  return (
    <div class='fork-model'>
      {providers.length > 0
        ? (
          <Choice
            label='Provider'
            value={draft.providerId}
            options={providers.map((provider) => [provider.id, provider.id])}
            onChoose={(providerId) => travel.change({ providerId, model: '' })}
          />
        )
        : (
          <Field
            label='Provider'
            name='provider'
            value={draft.providerId}
            placeholder='Same as the run'
            problem={travel.wrong.value['providerId']}
            onInput={(providerId) => travel.change({ providerId })}
          />
        )}
      <Field
        label='Model'
        name='model'
        value={draft.model}
        placeholder='The provider’s default'
        onInput={(model) => travel.change({ model })}
      />
    </div>
  );
}

const effects = [
  ['dry', 'Use recorded results', 'Calls that may change something return their recorded result. Nothing is changed.'],
  ['live', 'Make real calls', 'Calls may change something, and ask for approval as usual.'],
] as const;

function Effects({ draft, travel }: PartProps): JSX.Element {
  const name = useId();
  return (
    <fieldset class='fork-effects'>
      <legend>Calls that may change something</legend>
      {effects.map(([value, label, help]) => (
        <label key={value}>
          <input
            type='radio'
            name={name}
            data-testid={`fork-${value}`}
            checked={draft.effects === value}
            onChange={() => travel.change({ effects: value })}
          />
          <span>
            {label} <small>{help}</small>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

interface FieldProps {
  readonly label: string;
  readonly name: string;
  readonly testId?: string;
  readonly value: string;
  readonly rows?: number;
  readonly isCode?: boolean;
  readonly placeholder?: string;
  readonly problem?: string | undefined;
  readonly onInput: (value: string) => void;
}

function Field(props: FieldProps): JSX.Element {
  const { label, name, testId = name, value, rows, isCode = false, placeholder, problem, onInput } = props;
  const id = useId();
  const attributes = {
    id,
    name,
    value,
    placeholder,
    'data-testid': `fork-${testId}`,
    'aria-invalid': problem !== undefined,
    'aria-describedby': problem === undefined ? undefined : `${id}-problem`,
    spellcheck: false,
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      onInput(currentTarget.value),
  } as const;
  return (
    <div class='field'>
      <label for={id}>{label}</label>
      {rows === undefined
        ? <input type='text' autocomplete='off' {...attributes} />
        : <textarea rows={rows} class={isCode ? 'is-code' : ''} {...attributes} />}
      {problem !== undefined && <p id={`${id}-problem`} class='field-error'>{problem}</p>}
    </div>
  );
}
