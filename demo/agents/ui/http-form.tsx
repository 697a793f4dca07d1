import type { JSX } from 'preact';
import { type HttpTemplate, readTemplate, writeTemplate } from '../state/http-template.ts';
import { TextField, type TextFieldProps } from '../../kit/text-field.tsx';
import { Choice } from '../../kit/choice.tsx';
import { wordOfValue } from '../state/record-words.ts';

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
          testId='http-method'
          value={template.method}
          options={wordsOf(methods, template.method)}
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
      {sends && <Body field={field('body')} format={template.bodyAs} onFormat={(bodyAs) => set({ bodyAs })} />}
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
          testId='http-response-as'
          value={template.responseAs}
          options={wordsOf(['json', 'text'], template.responseAs)}
          onChoose={(responseAs) => set({ responseAs })}
        />
      </div>
    </div>
  );
}

interface BodyProps {
  readonly field: Pick<TextFieldProps, 'name' | 'value' | 'taken' | 'onInput'>;
  readonly format: string;
  readonly onFormat: (format: string) => void;
}

function Body({ field, format, onFormat }: BodyProps): JSX.Element {
  return (
    <div class='http-line is-behind'>
      <TextField
        {...field}
        label='Body'
        rows={4}
        placeholder='title: {title}'
        help='One “field: value” per line. A field that is only {name} keeps its type: a number stays a number.'
      />
      <Choice
        label='Body format'
        testId='http-body-as'
        value={format}
        options={wordsOf(['json', 'form'], format)}
        onChoose={onFormat}
      />
    </div>
  );
}

/** The options, with the current value even if it is none of them. */
function wordsOf(options: readonly string[], value: string): (readonly [string, string])[] {
  return [...new Set([...options, value])].map((option) => [option, wordOfValue(option)]);
}
