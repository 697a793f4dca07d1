import type { JSX } from 'preact';

interface SelectProps {
  /** Absent where a label is beside it. */
  readonly label?: string;
  readonly testId?: string | undefined;
  readonly value: string;
  readonly options: Iterable<readonly [value: string, words: string]>;
  readonly disabled?: boolean;
  readonly onChoose: (value: string) => void;
}

/** One of a few values. */
export function Select({ label, testId, value, options, disabled = false, onChoose }: SelectProps): JSX.Element {
  return (
    <select
      aria-label={label}
      data-testid={testId}
      value={value}
      disabled={disabled}
      onChange={({ currentTarget }) => onChoose(currentTarget.value)}
    >
      {[...options].map(([id, words]) => <option key={id} value={id}>{words}</option>)}
    </select>
  );
}

/** One of a few values, below its label. */
export function Choice(
  { label, class: className = 'field', ...rest }: SelectProps & { readonly label: string; readonly class?: string },
): JSX.Element {
  return (
    <label class={className}>
      <span>{label}</span>
      <Select {...rest} />
    </label>
  );
}
