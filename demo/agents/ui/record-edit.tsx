import type { ComponentChildren, JSX } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { AgentDraft } from '../state/agent-draft.ts';
import type { FieldSpec } from '../state/record-fields.ts';
import type { RecordForm } from '../state/record-form.ts';
import { kinds } from '../state/record-forms.ts';
import type { RegistryPages } from '../state/registry-pages.ts';
import { templates } from '../state/templates.ts';
import { ToolWork } from './lazy-tool-work.tsx';
import { Icon } from '../../kit/icon.tsx';
import { Problem } from '../../kit/problem.tsx';
import { nameOfModel } from '../../kit/model-name.ts';
import { AgentPicks } from './agent-picks.tsx';
import { wordOfValue } from '../state/record-words.ts';
import { Button } from '../../kit/button.tsx';

interface RecordEditProps {
  readonly pages: RegistryPages;
  readonly form: RecordForm;
  /** Opens a chat with the saved agent. */
  readonly onTry: ((agentId: string) => void) | undefined;
}

/** The editor of every kind of record: its fields as the kind lists them, what belongs to the kind, and what is folded. */
export function RecordEdit({ pages, form, onTry }: RecordEditProps): JSX.Element {
  const element = useRef<HTMLFormElement>(null);
  const { refusals, problem, kind, isNew } = form;
  const { value: agent } = pages.agent;
  const draft = agent?.form === form ? agent : undefined;
  const { folded } = kinds[kind];
  const isFolded = (field: FieldSpec): boolean => folded.some(([, names]) => isIn(field, names));
  useLayoutEffect(() => {
    element.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
    if (refusals.value === 0 && isNew) element.current?.querySelector<HTMLElement>('.field input')?.focus();
  }, [refusals.value]);
  return (
    <form
      ref={element}
      class='registry-page registry-form'
      data-testid='record-form'
      data-kind={kind}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void pages.save();
      }}
    >
      <ConflictNotice form={form} />
      <Problem text={problem.value} testId='form-problem' />
      {draft?.isUnwritten.value && <Templates draft={draft} />}
      <FormFields form={form} fields={form.fields.filter((field) => !isFolded(field))} />
      {kind === 'tool' && <ToolWork form={form} control={pages.control} />}
      {draft && <AgentPicks draft={draft} pages={pages} />}
      {folded.map(([title, names]) => (
        <Folded
          key={title}
          title={title}
          form={form}
          fields={form.fields.filter((field) => isIn(field, names))}
        >
          {draft && names.includes('providerId') && (
            <Button
              icon='plus'
              testId='make-provider'
              onClick={() => void pages.make('provider', { kind: 'openai-compatible' })}
            >
              Model server
            </Button>
          )}
        </Folded>
      ))}
      <Foot pages={pages} form={form} onTry={draft && onTry} />
    </form>
  );
}

function Foot({ pages, form: { isNew, isDirty, isSaving, conflict, kind }, onTry }: RecordEditProps): JSX.Element {
  const { value: agent } = pages.agent;
  const isForAgent = agent !== undefined && kind !== 'agent';
  const isIdle = (!isDirty.value && !isNew) || isSaving.value || conflict.value !== undefined;
  const words = kind === 'mcpServer' ? 'Connect' : isForAgent ? 'Save and use' : 'Create';
  return (
    <div class='dialog-foot registry-foot'>
      <Button testId='record-discard' onClick={() => pages.discard()}>
        {isDirty.value && !isNew ? 'Discard changes' : isDirty.value ? 'Discard' : 'Cancel'}
      </Button>
      {onTry && (
        <Button
          testId='record-try'
          disabled={isIdle}
          onClick={() => void pages.save().then((record) => record && onTry(record.id))}
        >
          Save and chat
        </Button>
      )}
      <Button type='submit' kind='primary' testId='record-save' disabled={isIdle}>
        {isNew ? words : 'Save'}
      </Button>
    </div>
  );
}

/** Starting points for a new agent; gone once something was written. */
function Templates({ draft }: { draft: AgentDraft }): JSX.Element {
  return (
    <section class='builder-templates' aria-label='Templates'>
      <p class='registry-faint'>Start from a template, or write your own below.</p>
      <ul>
        {templates.map((template) => (
          <li key={template.id}>
            <button
              type='button'
              class='builder-template'
              data-testid='template'
              data-template={template.id}
              aria-pressed={draft.template.value?.id === template.id}
              onClick={() => draft.use(template)}
            >
              <strong>{template.title}</strong>
              <span>{template.about}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Whether one of the names is the field's, or that of the part of the record that it is in. */
function isIn({ name }: FieldSpec, names: readonly string[]): boolean {
  return names.some((each) => name === each || name.startsWith(`${each}.`));
}

/** Fields that most records do without; open where one of them is wrong. */
function Folded(
  { title, form, fields, children }: FormFieldsProps & {
    readonly title: string;
    readonly children?: ComponentChildren;
  },
): JSX.Element | null {
  if (fields.length === 0) return null;
  const isWrong = fields.some(({ name }) => form.errors.value[name] !== undefined);
  const groups = new Set(fields.map(({ group }) => group));
  const bare = groups.size === 1 ? fields.map(({ group: _, ...field }) => field) : fields; // the title is the heading
  return (
    <details class='registry-more' data-testid='record-more' open={isWrong}>
      <summary>{title}</summary>
      <FormFields form={form} fields={bare} />
      {children}
    </details>
  );
}

interface FormFieldsProps {
  readonly form: RecordForm;
  /** Those that are shown, in order. */
  readonly fields: readonly FieldSpec[];
}

/** Fields of a form, each with what is wrong below it. */
function FormFields({ form, fields }: FormFieldsProps): JSX.Element {
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
function ConflictNotice({ form }: { form: RecordForm }): JSX.Element | null {
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
      <Button testId='conflict-keep' onClick={() => form.keepMine()}>
        Keep my changes
      </Button>
      <Button testId='conflict-load' onClick={() => form.loadLatest()}>
        Load latest version
      </Button>
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
    placeholder: field.placeholder,
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
          <option key={option} value={option}>
            {option === ''
              ? field.empty ?? 'none'
              : field.words?.[option] ?? (field.options ? wordOfValue(option) : nameOfModel(option))}
          </option>
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
    ? choices.value.providers
    : as === 'secret'
    ? ['', ...choices.value.secrets]
    : as === 'flag'
    ? ['no', 'yes']
    : as === 'choice'
    ? options ?? []
    : undefined;
  return offered && [...new Set([...offered, value])];
}
