import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { canonicalJson } from '../../../src/base/json.ts';
import { visible, visibleLines } from '../../../src/base/text.ts';
import type { Approval, AskedCall } from '../state/run-data.ts';

interface ApprovalFactsProps {
  readonly id: string;
  readonly approval: Approval | undefined;
  readonly input: unknown;
}

/** The heading: what the tool does, in the words of its definition, and what it is done to, in quotation marks. */
export function ApprovalTitle(
  { id, asked }: { readonly id: string; readonly asked: AskedCall | undefined },
): JSX.Element {
  if (asked?.title === undefined) return <h3 id={id}>Allow this call?</h3>;
  return (
    <h3 id={id}>
      {asked.title}
      {asked.quote === undefined ? '?' : (
        <>
          : “<bdi class='approval-quote'>{asked.quote}</bdi>”
        </>
      )}
    </h3>
  );
}

/** What a person decides on: what changes, or every field of the call; the exact call opens on request. */
export function ApprovalFacts({ id, approval, input }: ApprovalFactsProps): JSX.Element {
  const asked = approval?.asked;
  if (!asked) {
    return <p id={id} class='approval-facts' data-testid='approval-facts'>{approval?.reason ?? 'A tool call'}</p>;
  }
  const hasPreview = asked.quote !== undefined || (asked.changes ?? []).length > 0;
  const isExact = asked.title === undefined; // of an earlier runtime: its words alone
  // What the tool does not declare is never folded away.
  const shown = hasPreview ? asked.fields.filter(({ declared }) => !declared) : asked.fields;
  return (
    <div id={id} class='approval-facts' data-testid='approval-facts'>
      {isExact && (
        <p>
          Call <bdi>{asked.tool}</bdi>
        </p>
      )}
      <Changes asked={asked} />
      {!isExact && shown.length > 0 && (
        <dl>
          {shown.map((field, index) => <Field key={index} field={field} input={input} by={asked.by} isPlain />)}
        </dl>
      )}
      {asked.rule !== undefined && (
        <p>
          Rule: <bdi>{asked.rule}</bdi>
        </p>
      )}
      {isExact ? <Exact asked={asked} input={input} /> : (
        <details class='approval-exact' data-testid='approval-exact'>
          <summary>{asked.noPreview ? 'No preview. Exact call' : 'Exact call'}</summary>
          <p>
            <bdi>{asked.tool}</bdi>
          </p>
          <Exact asked={asked} input={input} />
        </details>
      )}
    </div>
  );
}

/** The call as the runtime wrote it: where it goes, and every field. */
function Exact({ asked, input }: { readonly asked: AskedCall; readonly input: unknown }): JSX.Element {
  return (
    <>
      {asked.target !== undefined && (
        <p>
          <bdi>{asked.target}</bdi>
        </p>
      )}
      <dl>
        {asked.fields.map((field, index) => <Field key={index} field={field} input={input} by={asked.by} />)}
      </dl>
    </>
  );
}

function Changes({ asked: { changes = [], moreChanges = 0 } }: { readonly asked: AskedCall }): JSX.Element | null {
  if (changes.length === 0) return null;
  return (
    <table class='approval-changes'>
      <thead>
        <tr>
          <th scope='col'>What</th>
          <th scope='col'>Now</th>
          <th scope='col'>Afterwards</th>
        </tr>
      </thead>
      <tbody>
        {changes.map(({ label, before, after }, at) => (
          <tr key={at}>
            <th scope='row'>{label}</th>
            <td>{before === '' ? 'nothing' : <bdi>{before}</bdi>}</td>
            <td>{after === '' ? 'nothing' : <bdi>{after}</bdi>}</td>
          </tr>
        ))}
        {moreChanges > 0 && (
          <tr>
            <td colSpan={3}>and {moreChanges} more</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

interface FieldProps {
  readonly field: AskedCall['fields'][number];
  readonly input: unknown;
  readonly by: AskedCall['by'];
  /** In a person's words: without quotation marks, under the title of the field. */
  readonly isPlain?: boolean;
}

function Field({ field, input, by, isPlain = false }: FieldProps): JSX.Element {
  const { key, value, declared, shortened, path, label } = field;
  const isOpen = useSignal(false);
  const id = useId();
  return (
    <div
      class='approval-field'
      data-testid='approval-field'
      data-declared={declared}
    >
      <dt>
        {!declared && <span class='chip'>Not declared</span>}
        <bdi>{isPlain && declared ? label ?? wordsOf(path) : key}</bdi>
      </dt>
      <dd>
        <bdi>{isPlain ? plainValue(value) : value}</bdi>
        {by && (
          <small class='approval-from'>
            {field.destination && <span class='chip'>Not from you</span>} from: {originText(field, by)}
          </small>
        )}
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
        {shortened && !isPlain && <span class='approval-hash'>SHA-256 {shortened.sha256}</span>}
        {shortened && (
          <pre id={id} hidden={!isOpen.value}>{isOpen.value && visible(canonicalJson(valueAt(input, path)))}</pre>
        )}
      </dd>
    </div>
  );
}

/** The runtime says where a value is from; sources are ids of its records. */
function originText({ from = [], planned }: FieldProps['field'], by: NonNullable<AskedCall['by']>): string {
  const names = from.map((source) => source === '*' ? 'a source that is not known' : source).join(', ');
  if (from.length > 0) return by === 'model' ? `the model, after reading ${names}` : names;
  return planned || by === 'program' ? 'the plan of the agent' : 'you';
}

/** `noteId` -> `Note id`. The names are those of the tool's schema. */
function wordsOf(path: readonly (string | number)[]): string {
  const words = path.map((part) =>
    typeof part === 'number'
      ? `${part + 1}`
      : part.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2').replaceAll('_', ' ').toLowerCase()
  ).join(' › ');
  return visible(words.charAt(0).toUpperCase() + words.slice(1)) || 'Input';
}

/** A text without its quotation marks, but with everything that hides or reorders text still in view. */
function plainValue(value: string): string {
  if (!value.startsWith('"')) return value;
  try {
    const text: unknown = JSON.parse(value);
    return typeof text === 'string' ? visibleLines(text) : value;
  } catch {
    return value;
  }
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
