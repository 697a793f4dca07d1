/** Changes the input of a call before it is approved: the form of its schema where that is flat, or its JSON. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { InboxDetail } from '../../../src/runtime/index.ts';
import { editsOf } from '../../../src/tools/edited-calls.ts';
import { asRecord } from '../../../src/base/is-record.ts';
import { Differences } from '../../kit/differences.tsx';
import { Problem } from '../../kit/problem.tsx';
import { contentOf, fieldsOf, type FieldValues, type QuestionField, wrongIn } from '../../mcp/state/question-form.ts';
import { QuestionFields } from '../../mcp/ui/question-fields.tsx';
import { Button } from '../../kit/button.tsx';

interface ChangeFormProps {
  readonly edit: NonNullable<InboxDetail['edit']>;
  readonly disabled: boolean;
  readonly onApprove: (input: unknown) => void;
}

export function ChangeForm({ edit, disabled, onApprove }: ChangeFormProps): JSX.Element {
  const fields = flatFields(edit);
  const values = useSignal<FieldValues>(valuesOf(fields, edit.input));
  const text = useSignal(JSON.stringify(edit.input, null, 2));
  const wrong = fields ? wrongIn(fields, values.value) : {};
  const read = fields ? { input: contentOf(fields, values.value) } : readJson(text.value);
  const edits = read ? editsOf(edit.input, read.input) : [];
  const isReady = read !== undefined && edits.length > 0 && Object.keys(wrong).length === 0;
  return (
    <div class='inbox-change' data-testid='change-form'>
      {fields
        ? (
          <QuestionFields
            fields={fields}
            values={values.value}
            wrong={wrong}
            onChange={(name, value) => (values.value = { ...values.value, [name]: value })}
          />
        )
        : (
          <label class='field'>
            <span>Input as JSON</span>
            <textarea
              rows={8}
              spellcheck={false}
              value={text.value}
              onInput={({ currentTarget }) => (text.value = currentTarget.value)}
            />
          </label>
        )}
      <Problem text={read ? undefined : 'The input is not valid JSON.'} testId='change-problem' />
      <Differences
        differences={edits.map(({ path, before, after }) => ({
          path,
          ...(before !== undefined && { from: before }),
          ...(after !== undefined && { to: after }),
        }))}
      />
      <Button
        kind='primary'
        testId='approve-changed'
        disabled={disabled || !isReady}
        onClick={() => onApprove(read?.input)}
      >
        Approve with changes
      </Button>
    </div>
  );
}

const simple: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean']);

/** The fields of a schema whose values are texts, numbers and flags; `undefined` for any other. */
function flatFields({ schema, input }: ChangeFormProps['edit']): readonly QuestionField[] | undefined {
  const properties = Object.entries(asRecord(schema['properties']));
  const isFlat = properties.length > 0 && properties.every(([, field]) => simple.has(asRecord(field)['type'])) &&
    Object.keys(asRecord(input)).every((name) => properties.some(([known]) => known === name));
  if (!isFlat) return undefined;
  const required = Array.isArray(schema['required']) ? schema['required'].map(String) : [];
  const ask = { schema: { ...schema, properties: Object.fromEntries(properties), required } };
  return fieldsOf(ask as unknown as Parameters<typeof fieldsOf>[0]); // it reads the schema alone
}

function valuesOf(fields: readonly QuestionField[] | undefined, input: unknown): FieldValues {
  const known = asRecord(input);
  return Object.fromEntries((fields ?? []).map(({ name, as }) => {
    const value = known[name];
    const text = typeof value === 'string' ? value : JSON.stringify(value ?? '');
    return [name, as === 'flag' ? value === true : value === undefined ? '' : text];
  }));
}

function readJson(text: string): { readonly input: unknown } | undefined {
  try {
    return { input: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}
