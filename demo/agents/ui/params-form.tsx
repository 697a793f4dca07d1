import type { JSX } from 'preact';
import type { JsonSchema } from '../../../src/registry/index.ts';
import { type Param, paramOf, paramTypes, readParams, writeParams } from '../state/params-table.ts';
import { Icon } from '../../kit/icon.tsx';

interface ParamsFormProps {
  readonly schema: JsonSchema;
  /** Inputs that the template has places for. */
  readonly places: readonly string[];
  readonly onChange: (schema: JsonSchema) => void;
}

/** What the tool takes, a row for each. A schema that says more than rows can is left to its JSON. */
export function ParamsForm({ schema, places, onChange }: ParamsFormProps): JSX.Element {
  const params = readParams(schema);
  if (!params) return <p class='field-help'>A table cannot show these parameters. Edit their JSON Schema.</p>;
  const missing = places.filter((place) => !params.some(({ name }) => name === place));
  const write = (next: readonly Param[]): void => onChange(writeParams(next));
  const add = (name: string): void => write([...params, paramOf(name)]);
  return (
    <fieldset class='params-form' data-testid='params-form'>
      <legend>Inputs</legend>
      {params.length > 0 && (
        <ul>
          {params.map((param, i) => (
            <Row
              key={i}
              param={param}
              onChange={(next) => write(params.with(i, next))}
              onRemove={() => write(params.toSpliced(i, 1))}
            />
          ))}
        </ul>
      )}
      <div class='button-row'>
        {missing.map((name) => (
          <button
            key={name}
            type='button'
            class='button'
            onClick={() => add(name)}
          >
            <Icon name='plus' /> {name}
          </button>
        ))}
        <button type='button' class='button' data-testid='param-add' onClick={() => add(`input${params.length + 1}`)}>
          <Icon name='plus' /> Input
        </button>
      </div>
    </fieldset>
  );
}

interface RowProps {
  readonly param: Param;
  readonly onChange: (param: Param) => void;
  readonly onRemove: () => void;
}

function Row({ param, onChange, onRemove }: RowProps): JSX.Element {
  const { name, type, description, isRequired } = param;
  return (
    <li>
      <input
        type='text'
        aria-label='Input name'
        data-testid='param-name'
        autocomplete='off'
        value={name}
        onChange={({ currentTarget }) => onChange({ ...param, name: currentTarget.value.trim() })}
      />
      <select
        aria-label={`Type of ${name}`}
        value={type}
        onChange={({ currentTarget }) => onChange({ ...param, type: currentTarget.value })}
      >
        {paramTypes.map((option) => <option key={option} value={option}>{option}</option>)}
      </select>
      <input
        type='text'
        aria-label={`Description of ${name}`}
        placeholder='Description for the model'
        data-testid='param-description'
        autocomplete='off'
        value={description}
        onInput={({ currentTarget }) => onChange({ ...param, description: currentTarget.value })}
      />
      <label class='check'>
        <input
          type='checkbox'
          checked={isRequired}
          onChange={() => onChange({ ...param, isRequired: !isRequired })}
        />
        Required
      </label>
      <button type='button' class='icon-button' aria-label={`Remove ${name}`} onClick={onRemove}>
        <Icon name='trash' />
      </button>
    </li>
  );
}
