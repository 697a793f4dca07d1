import type { JSX } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { FieldSpec } from '../state/record-fields.ts';
import type { RecordForm } from '../state/record-form.ts';
import { kinds } from '../state/record-forms.ts';
import type { RegistryPages } from '../state/registry-pages.ts';
import { ToolWork } from '../../builder/ui/lazy-tool-work.tsx';
import { Icon } from '../../kit/icon.tsx';
import { Problem } from '../../kit/problem.tsx';
import { nameOfModel } from '../../settings/state/model-name.ts';

/** The form that creates or changes a record. Errors are shown beside their fields. */
export function RecordEdit({ pages, form }: { pages: RegistryPages; form: RecordForm }): JSX.Element {
  const element = useRef<HTMLFormElement>(null);
  const { refusals, problem, isDirty, isSaving, conflict, isNew } = form;
  const at = form.fields.findIndex(({ name }) => name === 'paramsSchema'); // the tool work is shown before it
  const work = at < 0 ? form.fields.length : at;
  useLayoutEffect(() => element.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus(), [refusals.value]);
  return (
    <form
      ref={element}
      class='registry-page registry-form'
      data-testid='record-form'
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void pages.save();
      }}
    >
      <ConflictNotice form={form} />
      <Problem text={problem.value} testId='form-problem' />
      <FormFields form={form} fields={form.fields.slice(0, work).filter(({ isFolded }) => !isNew || !isFolded)} />
      {isNew && <Folded form={form} />}
      {form.kind === 'tool' && <ToolWork form={form} control={pages.control} />}
      <FormFields form={form} fields={form.fields.slice(work)} />
      <div class='dialog-foot registry-foot'>
        <button type='button' class='button' data-testid='record-discard' onClick={() => pages.discard()}>
          {isDirty.value && !isNew ? 'Discard changes' : 'Cancel'}
        </button>
        <button
          type='submit'
          class='button is-primary'
          data-testid='record-save'
          disabled={!isDirty.value || isSaving.value || conflict.value !== undefined}
        >
          {isNew ? form.kind === 'mcpServer' ? 'Connect' : 'Create' : 'Save'}
        </button>
      </div>
    </form>
  );
}

/** The fields that most new records do without; open where one of them is wrong. */
function Folded({ form }: { form: RecordForm }): JSX.Element | null {
  const fields = form.fields.filter(({ isFolded }) => isFolded);
  if (fields.length === 0) return null;
  const isWrong = fields.some(({ name }) => form.errors.value[name] !== undefined);
  return (
    <details class='registry-more' open={isWrong}>
      <summary>More settings: name, secret, sign-in</summary>
      <FormFields form={form} fields={fields} />
    </details>
  );
}

interface FormFieldsProps {
  readonly form: RecordForm;
  /** Those that are shown, in order. */
  readonly fields: readonly FieldSpec[];
}

/** Fields of a form, each with what is wrong below it. */
export function FormFields({ form, fields }: FormFieldsProps): JSX.Element {
  return (
    <>
      {blocksOf(fields).map(({ group, fields: together }) => (
        <Block key={group ?? together[0]?.name} {...{ form, group, fields: together }} />
      ))}
    </>
  );
}

interface Fields {
  readonly group: string | undefined;
  readonly fields: readonly FieldSpec[];
}

/** Fields that share a heading, or have none. */
function blocksOf(fields: readonly FieldSpec[]): readonly Fields[] {
  return splitWhere(fields, (before, field) => before.group !== field.group)
    .map((together) => ({ group: together[0].group, fields: together }));
}

/** Fields that share a line; wide ones are alone. */
function linesOf(fields: readonly FieldSpec[]): readonly (readonly [FieldSpec, ...FieldSpec[]])[] {
  return splitWhere(fields, (before, field) => isWide(before) || isWide(field));
}

function splitWhere(
  fields: readonly FieldSpec[],
  isNew: (before: FieldSpec, field: FieldSpec) => boolean,
): readonly (readonly [FieldSpec, ...FieldSpec[]])[] {
  const parts: [FieldSpec, ...FieldSpec[]][] = [];
  for (const field of fields) {
    const last = parts.at(-1);
    const before = last?.at(-1);
    if (last && before && !isNew(before, field)) last.push(field);
    else parts.push([field]);
  }
  return parts;
}

function isWide({ as }: FieldSpec): boolean {
  return as === 'area' || as === 'json' || as === 'lines' || as === 'secrets' || as.startsWith('allowed') ||
    as === 'selections' || as === 'models' || as === 'commas';
}

function Block({ form, group, fields }: Fields & { form: RecordForm }): JSX.Element {
  const columns = linesOf(fields).map((line) => (
    <div key={line[0].name} class='registry-columns' data-wide={line.some(isWide)}>
      {line.map((field) => <Field key={field.name} form={form} field={field} />)}
    </div>
  ));
  if (group === undefined) return <>{columns}</>;
  return (
    <fieldset>
      <legend>{group}</legend>
      <p class='field-help'>{groupHelp[group]}</p>
      {columns}
    </fieldset>
  );
}

const groupHelp: Readonly<Record<string, string>> = {
  Limits: 'Limits can only be lowered. Leave empty for the default.',
  'Model settings': 'Leave empty for the provider’s defaults.',
  Prices: 'Per million tokens, in a currency like USD. Used to show what an answer cost.',
};

/** Reports a conflict and asks which version to keep. */
export function ConflictNotice({ form }: { form: RecordForm }): JSX.Element | null {
  const conflict = form.conflict.value;
  if (!conflict) return null;
  const what = conflict.changed.length === 0 ? 'The state' : conflict.changed.join(', ');
  return (
    <div class='notice' role='alert' data-testid='record-conflict'>
      <Icon name='warning' />
      <p>
        This {kinds[form.kind].one} was changed elsewhere. {what} {conflict.changed.length > 1 ? 'are' : 'is'}{' '}
        different now.
      </p>
      <button type='button' class='button' data-testid='conflict-keep' onClick={() => form.keepMine()}>
        Keep my changes
      </button>
      <button type='button' class='button' data-testid='conflict-load' onClick={() => form.loadLatest()}>
        Load latest version
      </button>
    </div>
  );
}

/** A label, what is to be filled in, and below it what helps or what is wrong. */
function Field({ form, field }: { form: RecordForm; field: FieldSpec }): JSX.Element {
  const id = useId();
  const { name, label, help } = field;
  const error = form.errors.value[name];
  const text = error ?? help;
  const attributes = {
    id,
    name,
    'data-testid': `field-${name}`,
    'aria-invalid': error !== undefined,
    'aria-describedby': text === undefined ? undefined : `${id}-text`,
    value: form.values.value[name] ?? '',
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      form.set(name, currentTarget.value),
  };
  return (
    <div class='field'>
      <label for={id}>{label}</label>
      <Control form={form} field={field} attributes={attributes} />
      {text !== undefined && (
        <p id={`${id}-text`} class={error === undefined ? 'field-help' : 'field-error'} data-testid={`help-${name}`}>
          {text}
        </p>
      )}
    </div>
  );
}

interface ControlProps {
  readonly form: RecordForm;
  readonly field: FieldSpec;
  readonly attributes: {
    readonly value: string;
    readonly onInput: (event: { readonly currentTarget: { readonly value: string } }) => void;
  };
}

function Control({ form, field, attributes }: ControlProps): JSX.Element {
  const { as, rows = 3 } = field;
  const options = optionsOf(form, field, attributes.value);
  if (options) {
    const { onInput, ...rest } = attributes;
    return (
      <select {...rest} onChange={onInput}>
        {options.map((option) => (
          <option key={option} value={option}>{option === '' ? field.empty ?? 'none' : nameOfModel(option)}</option>
        ))}
      </select>
    );
  }
  if (isWide(field) && as !== 'commas') {
    return <textarea {...attributes} class={as === 'area' ? '' : 'is-code'} rows={rows} spellcheck={as === 'area'} />;
  }
  return <input type='text' autocomplete='off' inputMode={as === 'number' ? 'decimal' : 'text'} {...attributes} />;
}

/** The options of a choice, with the current value even if it was removed. */
function optionsOf(
  { choices }: RecordForm,
  { name, as, options }: FieldSpec,
  value: string,
): readonly string[] | undefined {
  const offered = name === 'providerId'
    ? choices.providers
    : as === 'secret'
    ? ['', ...choices.secrets]
    : as === 'flag'
    ? ['no', 'yes']
    : as === 'choice'
    ? options ?? []
    : undefined;
  return offered && [...new Set([...offered, value])];
}
