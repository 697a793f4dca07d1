import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { type HttpTemplate, readTemplate, writeTemplate } from '../state/http-template.ts';
import { TextField } from '../../kit/text-field.tsx';

type Config = Readonly<Record<string, unknown>>;

interface HttpFormProps {
  readonly config: Config;
  /** What the registry says of the configuration. */
  readonly error?: string | undefined;
  readonly onChange: (config: Config) => void;
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

const urlHelp =
  '{name} is an input of the tool. The host is fixed; models cannot change it. A Pinnace server reaches ' +
  'addresses of its own network only where its option “privateOrigins” names them.';

/** The template of a request and its response fields. */
export function HttpForm({ config, error, onChange }: HttpFormProps): JSX.Element {
  const template = readTemplate(config);
  const set = (part: Partial<HttpTemplate>): void => onChange(writeTemplate(config, { ...template, ...part }));
  const field = (name: keyof HttpTemplate) => ({
    name: `http-${name}`,
    value: template[name],
    taken: (written: string) => readTemplate(writeTemplate(config, { ...template, [name]: written }))[name],
    onInput: (written: string) => set({ [name]: written }),
  });
  const sends = !['GET', 'HEAD', 'OPTIONS'].includes(template.method);
  return (
    <div class='http-form' data-testid='http-form'>
      <div class='http-line'>
        <Choice
          label='Method'
          name='http-method'
          value={template.method}
          options={methods}
          onChoose={(method) => set({ method })}
        />
        <TextField
          {...field('url')}
          error={error}
          label='URL'
          placeholder='https://api.example.com/v1/items/{id}?q={query}'
          help={urlHelp}
        />
      </div>
      <TextField
        {...field('headers')}
        label='Headers'
        rows={3}
        placeholder='Authorization: Bearer {{secret:NAME}}'
        help='One “Name: value” per line. Refer to a secret by name, {{secret:NAME}}, never by its value.'
      />
      {sends && (
        <div class='http-line is-behind'>
          <TextField
            {...field('body')}
            label='Body'
            rows={4}
            placeholder='title: {title}'
            help='One “field: value” per line. A field that is only {name} keeps its type: a number stays a number.'
          />
          <Choice
            label='Body format'
            name='http-body-as'
            value={template.bodyAs}
            options={['json', 'form']}
            onChoose={(bodyAs) => set({ bodyAs })}
          />
        </div>
      )}
      <div class='http-line is-behind'>
        <TextField
          {...field('fields')}
          label='Response fields'
          rows={3}
          placeholder={'items.name\nitems.price'}
          help='One JSON path per line. Fewer fields cost fewer tokens. Leave empty for the whole response.'
        />
        <Choice
          label='Response format'
          name='http-response-as'
          value={template.responseAs}
          options={['json', 'text']}
          onChoose={(responseAs) => set({ responseAs })}
        />
      </div>
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly options: readonly string[];
  readonly onChoose: (value: string) => void;
}

function Choice({ label, name, value, options, onChoose }: ChoiceProps): JSX.Element {
  const id = useId();
  return (
    <div class='field'>
      <label for={id}>{label}</label>
      <select
        id={id}
        data-testid={name}
        value={value}
        onChange={({ currentTarget }) => onChoose(currentTarget.value)}
      >
        {[...new Set([...options, value])].map((option) => <option key={option} value={option}>{option}</option>)}
      </select>
    </div>
  );
}
