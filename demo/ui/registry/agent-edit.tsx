import type { JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { type FieldName, labelOf, limitLabels } from '../../state/agent-fields.ts';
import type { AgentForm } from '../../state/agent-form.ts';
import type { RegistryPages } from '../../state/registry-pages.ts';
import { Icon } from '../icon.tsx';

/** The form that changes an agent. What is wrong stands beside the field that it is about. */
export function AgentEdit({ pages, form }: { pages: RegistryPages; form: AgentForm }): JSX.Element {
  const element = useRef<HTMLFormElement>(null);
  const { errors } = form;
  useEffect(() => element.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus(), [errors.value]);
  return (
    <form
      ref={element}
      class='registry-page registry-form'
      data-testid='agent-form'
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void pages.save();
      }}
    >
      <ConflictNotice form={form} />
      {form.problem.value !== undefined && (
        <p class='registry-problem' role='alert' data-testid='form-problem'>
          <Icon name='warning' />
          {form.problem.value}
        </p>
      )}
      <div class='registry-columns'>
        <Line form={form} field='name' />
        <Line form={form} field='role' />
        <Line form={form} field='version' help='Like 1.0.0, for people.' />
        <Visibility form={form} />
      </div>
      <Line form={form} field='tags' help='Divided by commas.' />
      <Area form={form} field='description' rows={2} />
      <Area form={form} field='instructions' rows={12} />
      <Area
        form={form}
        field='entryTools'
        rows={5}
        help='One in a line: a tool’s id, or a prefix with “*”.'
      />
      <fieldset>
        <legend>Limits</legend>
        <p class='field-help'>Each narrows what the runtime allows. Empty: as the runtime has it.</p>
        <div class='registry-columns'>
          {Object.keys(limitLabels).map((name) => (
            <Line key={name} form={form} field={`limits.${name}` as FieldName} isNumber />
          ))}
        </div>
      </fieldset>
      <div class='dialog-foot registry-foot'>
        <button type='button' class='button' data-testid='agent-discard' onClick={() => pages.discard()}>
          {form.isDirty.value ? 'Discard changes' : 'Cancel'}
        </button>
        <button
          type='submit'
          class='button is-primary'
          data-testid='agent-save'
          disabled={!form.isDirty.value || form.isSaving.value || form.conflict.value !== undefined}
        >
          Save
        </button>
      </div>
    </form>
  );
}

function ConflictNotice({ form }: { form: AgentForm }): JSX.Element | null {
  const conflict = form.conflict.value;
  if (!conflict) return null;
  const what = conflict.changed.length === 0 ? 'Its state' : conflict.changed.join(', ');
  return (
    <div class='notice' role='alert' data-testid='agent-conflict'>
      <Icon name='warning' />
      <p>
        Somebody has changed this agent meanwhile. {what} {conflict.changed.length > 1 ? 'are' : 'is'} different now.
      </p>
      <button type='button' class='button' data-testid='conflict-keep' onClick={() => form.keepMine()}>
        Keep my changes
      </button>
      <button type='button' class='button' data-testid='conflict-load' onClick={() => form.loadLatest()}>
        Load the latest
      </button>
    </div>
  );
}

interface FieldProps {
  readonly form: AgentForm;
  readonly field: FieldName;
  readonly help?: string;
}

function Line({ form, field, help, isNumber = false }: FieldProps & { readonly isNumber?: boolean }): JSX.Element {
  return (
    <Labelled form={form} field={field} {...(help !== undefined && { help })}>
      {(attributes) => (
        <input
          type='text'
          autocomplete='off'
          inputMode={isNumber ? 'numeric' : 'text'}
          {...attributes}
          value={form.values.value[field]}
          onInput={({ currentTarget }) => form.set(field, currentTarget.value)}
        />
      )}
    </Labelled>
  );
}

function Area({ form, field, help, rows }: FieldProps & { readonly rows: number }): JSX.Element {
  return (
    <Labelled form={form} field={field} {...(help !== undefined && { help })}>
      {(attributes) => (
        <textarea
          rows={rows}
          {...attributes}
          value={form.values.value[field]}
          onInput={({ currentTarget }) => form.set(field, currentTarget.value)}
        />
      )}
    </Labelled>
  );
}

function Visibility({ form }: { form: AgentForm }): JSX.Element {
  return (
    <Labelled form={form} field='visibility'>
      {(attributes) => (
        <select
          {...attributes}
          value={form.values.value.visibility}
          onChange={({ currentTarget }) => form.set('visibility', currentTarget.value)}
        >
          {['public', 'internal', 'disabled'].map((option) => <option key={option} value={option}>{option}</option>)}
        </select>
      )}
    </Labelled>
  );
}

interface Attributes {
  readonly id: string;
  readonly name: string;
  readonly 'data-testid': string;
  readonly 'aria-invalid': boolean;
  readonly 'aria-describedby': string | undefined;
}

/** A label, what is to be filled in, and below it what helps or what is wrong. */
function Labelled(
  { form, field, help, children }: FieldProps & { readonly children: (attributes: Attributes) => JSX.Element },
): JSX.Element {
  const id = useId();
  const error = form.errors.value[field];
  const text = error ?? help;
  return (
    <div class='field'>
      <label for={id}>{labelOf(field)}</label>
      {children({
        id,
        name: field,
        'data-testid': `field-${field}`,
        'aria-invalid': error !== undefined,
        'aria-describedby': text === undefined ? undefined : `${id}-text`,
      })}
      {text !== undefined && (
        <p id={`${id}-text`} class={error === undefined ? 'field-help' : 'field-error'} data-testid={`help-${field}`}>
          {text}
        </p>
      )}
    </div>
  );
}
