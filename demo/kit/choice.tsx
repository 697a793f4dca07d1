import type { JSX } from 'preact';

interface ChoiceProps {
  readonly label: string;
  readonly testId?: string;
  readonly class?: string;
  readonly value: string;
  readonly options: Iterable<readonly [value: string, words: string]>;
  readonly disabled?: boolean;
  readonly onChoose: (value: string) => void;
}

/** One of a few values, below its label. */
export function Choice(
  { label, testId, class: className = 'field', value, options, disabled = false, onChoose }: ChoiceProps,
): JSX.Element {
  return (
    <label class={className}>
      <span>{label}</span>
      <select
        data-testid={testId}
        value={value}
        disabled={disabled}
        onChange={({ currentTarget }) => onChoose(currentTarget.value)}
      >
        {[...options].map(([id, words]) => <option key={id} value={id}>{words}</option>)}
      </select>
    </label>
  );
}
