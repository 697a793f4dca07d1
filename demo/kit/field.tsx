import type { JSX } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  readonly name: keyof FieldErrors;
  readonly label: string;
  readonly testId: string;
  readonly value: string;
  readonly placeholder: string;
  readonly help: string;
  readonly error: string | undefined;
  readonly isSecret?: boolean;
  readonly disabled?: boolean;
  /** The id of a list of values to pick from. */
  readonly list?: string;
  readonly field?: { current: HTMLInputElement | null };
}

/** A line to fill in, with its label, and with what helps or what is wrong. It holds its own value. */
export function Field(props: FieldProps): JSX.Element {
  const { name, label, testId, value, placeholder, help, error, isSecret, disabled = false, field, list } = props;
  const id = useId();
  const attributes = {
    id,
    name,
    placeholder,
    disabled,
    ref: field ?? null,
    list,
    defaultValue: value,
    autocomplete: 'off',
    spellcheck: false,
    'data-testid': testId,
    'aria-invalid': error !== undefined,
    'aria-describedby': `${id}-help`,
  } as const;
  return (
    <div class='field'>
      <label for={id}>{label}</label>
      {isSecret
        ? <input type='password' {...attributes} />
        : <input type='text' autocapitalize='off' {...attributes} />}
      <p id={`${id}-help`} class={error === undefined ? 'field-help' : 'field-error'}>{error ?? help}</p>
    </div>
  );
}

/** What is wrong, by field. */
export type FieldErrors = Partial<Record<'baseUrl' | 'model' | 'apiKey' | 'passphrase' | 'url', string>>;
