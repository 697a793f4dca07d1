import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';

interface TextFieldProps {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly help?: string;
  readonly placeholder?: string;
  /** More than one: as many lines. */
  readonly rows?: number;
  /** What the value is as a written text is taken in: as long as that is so, the text stays as it was written. */
  readonly taken: (written: string) => string;
  readonly onInput: (value: string) => void;
}

/** A text field whose value is stored in another form; the text is not reformatted while the person types. */
export function TextField(
  { label, name, value, help, placeholder, rows = 1, taken, onInput }: TextFieldProps,
): JSX.Element {
  const id = useId();
  const written = useSignal(value);
  if (taken(written.peek()) !== value) written.value = value;
  const attributes = {
    id,
    name,
    placeholder,
    'data-testid': name,
    'aria-describedby': help === undefined ? undefined : `${id}-help`,
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
      {help !== undefined && <p id={`${id}-help`} class='field-help'>{help}</p>}
    </div>
  );
}
