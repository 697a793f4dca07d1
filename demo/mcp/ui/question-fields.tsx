import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import type { FieldValue, FieldValues, QuestionField } from '../state/question-form.ts';

interface QuestionFieldsProps {
  readonly fields: readonly QuestionField[];
  readonly values: FieldValues;
  readonly wrong: Readonly<Record<string, string>>;
  readonly onChange: (name: string, value: FieldValue) => void;
}

/** The fields of a form that a server sends. Browsers fill in nothing by themselves. */
export function QuestionFields({ fields, values, wrong, onChange }: QuestionFieldsProps): JSX.Element {
  return (
    <>
      {fields.map((field) => (
        <Field
          key={field.name}
          field={field}
          value={values[field.name] ?? ''}
          problem={wrong[field.name]}
          onChange={(value) => onChange(field.name, value)}
        />
      ))}
    </>
  );
}

interface FieldProps {
  readonly field: QuestionField;
  readonly value: FieldValue;
  readonly problem: string | undefined;
  readonly onChange: (value: FieldValue) => void;
}

function Field(props: FieldProps): JSX.Element {
  const { field: { name, label, help, as, isRequired }, problem } = props;
  const id = useId();
  const note = problem ?? help;
  const described = note === '' ? undefined : `${id}-help`;
  const title = isRequired || as === 'flag' ? label : `${label} (optional)`;
  const isList = as === 'choices';
  return (
    <div
      class={as === 'flag' || isList ? 'mcp-choices' : 'field'}
      role={isList ? 'group' : undefined}
      aria-labelledby={isList ? `${id}-label` : undefined}
    >
      {as !== 'flag' && !isList && <label for={id}>{title}</label>}
      {isList && <b id={`${id}-label`}>{title}</b>}
      <Input {...props} id={id} described={described} testId={`ask-${name}`} />
      {described !== undefined && (
        <p id={described} class={problem === undefined ? 'field-help' : 'field-error'} data-testid={`ask-${name}-note`}>
          {note}
        </p>
      )}
    </div>
  );
}

type InputProps = FieldProps & { readonly id: string; readonly described: string | undefined; readonly testId: string };

function Input(props: InputProps): JSX.Element {
  const { field: { as, label, choices, isRequired }, value, problem, onChange, id, described, testId } = props;
  const shared = {
    'id': id,
    'aria-describedby': described,
    'aria-invalid': problem !== undefined,
    'data-testid': testId,
  };
  if (as === 'flag') {
    return (
      <label class='check'>
        <input
          type='checkbox'
          {...shared}
          checked={value === true}
          onChange={({ currentTarget }) => onChange(currentTarget.checked)}
        />
        {label}
      </label>
    );
  }
  if (as === 'choice') {
    return (
      <select {...shared} value={String(value)} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {(!isRequired || value === '') && <option value=''>{isRequired ? 'Choose…' : 'None'}</option>}
        {choices.map((choice) => <option key={choice.value} value={choice.value}>{choice.label}</option>)}
      </select>
    );
  }
  if (as === 'choices') return <Choices {...props} />;
  const type = (as === 'number' ? 'text' : as) as 'text'; // the types of inputs exclude each other
  return (
    <input
      type={type}
      inputMode={as === 'number' ? 'decimal' : 'text'}
      autocomplete='off'
      {...shared}
      aria-required={isRequired}
      value={String(value)}
      onInput={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}

function Choices({ field: { choices }, value, onChange, testId }: InputProps): JSX.Element {
  const chosen = Array.isArray(value) ? value : [];
  return (
    <div class='mcp-choices' data-testid={testId}>
      {choices.map((choice) => (
        <label key={choice.value} class='check'>
          <input
            type='checkbox'
            checked={chosen.includes(choice.value)}
            onChange={({ currentTarget }) =>
              onChange(
                currentTarget.checked
                  ? choices.map((one) => one.value).filter((one) => one === choice.value || chosen.includes(one))
                  : chosen.filter((one) => one !== choice.value),
              )}
          />
          {choice.label}
        </label>
      ))}
    </div>
  );
}
