import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { JsonSchema } from '../../../src/registry/index.ts';
import type { TrialControl } from '../../control/trial-control.ts';
import { findSlip } from '../state/code-slips.ts';
import { placesIn, secretsIn } from '../state/http-template.ts';
import { followPlaces, readParams, writeParams } from '../state/params-table.ts';
import type { RecordForm } from '../state/record-form.ts';
import { createTrial, type Trial } from '../state/tool-trial.ts';
import { CodeEditor, type Mark } from './code-editor.tsx';
import { HttpForm } from './http-form.tsx';
import { ParamsForm } from './params-form.tsx';
import { TrialView } from './tool-trial.tsx';

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
