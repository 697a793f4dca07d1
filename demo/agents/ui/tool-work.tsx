import type { JSX } from 'preact';
import { useEffect, useId, useMemo } from 'preact/hooks';
import type { JsonSchema } from '../../../src/registry/index.ts';
import type { ToolRequest, ToolTrial as TrialOutcome, TrialControl } from '../../control/trial-control.ts';
import { formatDuration } from '../../kit/format.ts';
import { JsonView } from '../../kit/json-view.tsx';
import { Problem } from '../../kit/problem.tsx';
import { findSlip } from '../state/code-slips.ts';
import { placesIn, secretsIn } from '../state/http-template.ts';
import { followPlaces, type Param, paramOf, paramTypes, readParams, writeParams } from '../state/params-table.ts';
import type { RecordForm } from '../state/record-form.ts';
import { createTrial, type Trial } from '../state/tool-trial.ts';
import { CodeEditor, type Mark } from './code-editor.tsx';
import { HttpForm } from './http-form.tsx';
import { Button, IconButton } from '../../kit/button.tsx';

type Config = Readonly<Record<string, unknown>>;

interface ToolWorkProps {
  readonly form: RecordForm;
  readonly control: TrialControl;
}

/** What a tool that is data needs besides its names: its template or its code, its inputs, and a test call. */
export function ToolWork({ form, control }: ToolWorkProps): JSX.Element | null {
  const trial = useMemo(() => createTrial(control), [form]);
  const { type = '', config = '', paramsSchema = '' } = form.values.value;
  if (type !== 'http' && type !== 'code') return null;
  const written = readObject(config);
  const schema = readObject(paramsSchema);
  const setConfig = (next: Config): void => {
    form.set('config', JSON.stringify(next, null, 2));
    if (type !== 'http') return;
    addSecrets(form, next);
    const params = schema && readParams(schema);
    if (!params || !written) return;
    const followed = followPlaces(params, { before: placesIn(written), after: placesIn(next) });
    form.set('paramsSchema', JSON.stringify(writeParams(followed), null, 2));
  };
  return (
    <div class='tool-work' data-testid='tool-work'>
      {!written && <p class='field-error'>The configuration below is not valid JSON. Fix it there first.</p>}
      {written && type === 'http' && (
        <HttpForm config={written} error={form.errors.value['config']} onChange={setConfig} />
      )}
      {written && type === 'code' && (
        <CodeEditor
          label='Code'
          help='The body of an async function with the parameter “input”; its return value is the output. No network, no storage. Tab indents; Esc, then Tab moves on.'
          value={codeOf(written)}
          mark={markOf(codeOf(written), trial)}
          onInput={(code) => setConfig({ ...written, code })}
        />
      )}
      {schema
        ? (
          <ParamsForm
            schema={schema}
            places={written && type === 'http' ? placesIn(written) : []}
            onChange={(next) => form.set('paramsSchema', JSON.stringify(next, null, 2))}
          />
        )
        : <p class='field-error'>The parameters are not a JSON Schema. Fix them there first.</p>}
      <TrialView trial={trial} tool={() => form.draft()} type={type} schema={schema} />
    </div>
  );
}

export function ToolTrial({ tool, control }: {
  readonly tool: { readonly type: string; readonly paramsSchema: JsonSchema };
  readonly control: TrialControl;
}): JSX.Element | null {
  const trial = useMemo(() => createTrial(control), [tool]);
  if (tool.type !== 'http' && tool.type !== 'code') return null;
  return <TrialView trial={trial} tool={() => tool} type={tool.type} schema={tool.paramsSchema} />;
}

/** A tool gets the secrets that its record lists: those that the template names are listed with it. */
function addSecrets(form: RecordForm, config: Config): void {
  const listed = (form.values.value['secrets'] ?? '').split(/[\s,]+/).filter((name) => name !== '');
  const all = [...new Set([...listed, ...secretsIn(config)])];
  if (all.length > listed.length) form.set('secrets', all.join('\n'));
}

/** Syntax errors are shown at once; thrown errors after the call. */
function markOf(code: string, { result }: Trial): Mark | undefined {
  const slip = findSlip(code);
  if (slip || !result.value || result.value.outcome.ok) return slip;
  const { outcome: { error: { details } }, thrown } = result.value;
  const { line, column } = (details ?? {}) as { readonly line?: number; readonly column?: number }; // as the sandbox reports
  return line === undefined
    ? undefined
    : { line, ...(column !== undefined && { column }), text: thrown ?? 'Error thrown here' };
}

function codeOf({ code }: Readonly<Record<string, unknown>>): string {
  return typeof code === 'string' ? code : '';
}

function readObject(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

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
        {missing.map((name) => <Button icon='plus' key={name} onClick={() => add(name)}>{name}</Button>)}
        <Button icon='plus' testId='param-add' onClick={() => add(`input${params.length + 1}`)}>
          Input
        </Button>
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
      <IconButton icon='trash' label={`Remove ${name}`} onClick={onRemove} />
    </li>
  );
}

interface TrialViewProps {
  readonly trial: Trial;
  /** The definition as it is written now. */
  readonly tool: () => object;
  readonly type: string;
  readonly schema: unknown;
}

/** A test call: the input, the request as it would be sent, and what came of it. */
export function TrialView({ trial, tool, type, schema }: TrialViewProps): JSX.Element {
  const id = useId();
  const { input, request, result, problem, isBusy } = trial;
  useEffect(() => trial.suggest(schema), [JSON.stringify(schema)]);
  return (
    <section class='trial' data-testid='trial' aria-label='Test call'>
      <h2>Test call</h2>
      <div class='field'>
        <label for={id}>Input, as JSON</label>
        <textarea
          id={id}
          class='is-code'
          rows={4}
          spellcheck={false}
          data-testid='trial-input'
          value={input.value}
          onInput={({ currentTarget }) => trial.write(currentTarget.value)}
        />
      </div>
      <div class='button-row'>
        {type === 'http' && (
          <Button
            testId='trial-preview'
            disabled={isBusy.value}
            onClick={() => void trial.preview(tool())}
          >
            Show the request
          </Button>
        )}
        <Button testId='trial-call' disabled={isBusy.value} onClick={() => void trial.call(tool())}>
          {isBusy.value ? 'Waiting…' : type === 'http' ? 'Send request' : 'Run'}
        </Button>
      </div>
      <Problem text={problem.value} testId='trial-problem' />
      {type === 'http' && request.value && <Request request={request.value} />}
      {result.value && <Result result={result.value} />}
    </section>
  );
}

function Request({ request }: { request: ToolRequest }): JSX.Element {
  const { method, url, headers, body, needsApproval } = request;
  const lines = [
    `${method} ${url}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : ['', body]),
  ];
  return (
    <div class='trial-part' data-testid='trial-request'>
      <JsonView label='Request preview' value={lines.join('\n')} />
      <p class='field-help'>
        {needsApproval
          ? 'This tool may change data. Agents ask for your approval first, but a test call is sent immediately.'
          : 'This tool only reads data. Agents call it without asking you.'}
      </p>
    </div>
  );
}

function Result({ result: { outcome, durationMs, answer, thrown } }: { result: TrialOutcome }): JSX.Element {
  return (
    <div class='trial-part' data-testid='trial-result' data-ok={outcome.ok}>
      <p role='status' class={outcome.ok ? 'trial-good' : 'field-error'}>
        {outcome.ok ? 'Success' : `${outcome.error.message} (${outcome.error.code})`}, in {formatDuration(durationMs)}.
      </p>
      {thrown !== undefined && thrown !== '' && (
        <p class='field-error' data-testid='trial-thrown'>
          Error thrown: {thrown}
        </p>
      )}
      {answer && (
        <JsonView
          label={`Server response: ${answer.status} ${answer.type}${answer.isCut ? ' (truncated)' : ''}`}
          value={answer.text}
        />
      )}
      {outcome.ok && <JsonView label='Output for the model' value={outcome.output} />}
    </div>
  );
}
