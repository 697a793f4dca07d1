import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';

export interface TextFieldProps {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly help?: string;
  /** What is wrong with the value; shown in place of the help. */
  readonly error?: string | undefined;
  readonly placeholder?: string;
  /** More than one: as many lines. */
  readonly rows?: number;
  /** What the value is as a written text is taken in: as long as that is so, the text stays as it was written. */
  readonly taken: (written: string) => string;
  readonly onInput: (value: string) => void;
}

/** A text field whose value is stored in another form; the text is not reformatted while the person types. */
export function TextField(
  { label, name, value, help, error, placeholder, rows = 1, taken, onInput }: TextFieldProps,
): JSX.Element {
  const id = useId();
  const written = useSignal(value);
  if (taken(written.peek()) !== value) written.value = value;
  const text = error ?? help;
  const attributes = {
    id,
    name,
    placeholder,
    'data-testid': name,
    'aria-invalid': error !== undefined,
    'aria-describedby': text === undefined ? undefined : `${id}-help`,
    autocomplete: 'off',
    spellcheck: false,
    value: written.value,
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) => {
      written.value = currentTarget.value;
      onInput(currentTarget.value);
    },
  } as const;
  return (
    <div class='field'>
      <label for={id}>{label}</label>
      {rows > 1
        ? <textarea class='is-code' rows={rows} {...attributes} />
        : <input type='text' autocapitalize='off' {...attributes} />}
      {text !== undefined && <p id={`${id}-help`} class={error === undefined ? 'field-help' : 'field-error'}>{text}</p>}
    </div>
  );
}
