import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { canonicalJson } from '../../../src/base/json.ts';
import { visible } from '../../../src/base/text.ts';
import type { Approval, AskedCall } from '../state/run-data.ts';

interface ApprovalFactsProps {
  readonly id: string;
  readonly approval: Approval | undefined;
  readonly input: unknown;
}

/** What a person decides on: every field of the call is in view, and only long values open on request. */
export function ApprovalFacts({ id, approval, input }: ApprovalFactsProps): JSX.Element {
  const asked = approval?.asked;
  if (!asked) {
    return <p id={id} class='approval-facts' data-testid='approval-facts'>{approval?.reason ?? 'A tool call'}</p>;
  }
  return (
    <div id={id} class='approval-facts' data-testid='approval-facts'>
      <p>
        Call <bdi>{asked.tool}</bdi>
      </p>
      {asked.target !== undefined && (
        <p>
          <bdi>{asked.target}</bdi>
        </p>
      )}
      <dl>
        {asked.fields.map((field, index) => <Field key={index} field={field} input={input} />)}
      </dl>
      {asked.rule !== undefined && (
        <p>
          Rule: <bdi>{asked.rule}</bdi>
        </p>
      )}
    </div>
  );
}

type FieldProps = { readonly field: AskedCall['fields'][number]; readonly input: unknown };

function Field({ field: { key, value, declared, shortened, path }, input }: FieldProps): JSX.Element {
  const isOpen = useSignal(false);
  const id = useId();
  return (
    <div class='approval-field' data-testid='approval-field' data-declared={declared}>
      <dt>
        {!declared && <span class='chip'>Not declared</span>}
        <bdi>{key}</bdi>
      </dt>
      <dd>
        <bdi>{value}</bdi>
        {shortened && (
          <button
            type='button'
            class='approval-more'
            aria-expanded={isOpen.value}
            aria-controls={id}
            data-testid='approval-more'
            onClick={() => (isOpen.value = !isOpen.value)}
          >
            {isOpen.value ? 'Show less' : `Show all ${shortened.length} characters`}
          </button>
        )}
        {shortened && <span class='approval-hash'>SHA-256 {shortened.sha256}</span>}
        {shortened && (
          <pre id={id} hidden={!isOpen.value}>{isOpen.value && visible(canonicalJson(valueAt(input, path)))}</pre>
        )}
      </dd>
    </div>
  );
}

/** The value at a path of the input, as the client has it. */
function valueAt(input: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (value, part) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, part)
        ? (value as Readonly<Record<string | number, unknown>>)[part] // it has the member
        : undefined,
    input,
  );
}
