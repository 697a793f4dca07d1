/** The sharing of an agent, loaded when an agent is opened. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Manifest } from '../../../src/index.ts';
import type { HistoryEntry, JsonSchema, RecordKind, ToolDefinition } from '../../../src/registry/index.ts';
import type { AnyRecord } from '../../control/registry-control.ts';
import { Chips } from '../../kit/chips.tsx';
import { Differences } from '../../kit/differences.tsx';
import { Facts } from '../../kit/facts.tsx';
import { formatTime } from '../../kit/format.ts';
import { JsonView } from '../../kit/json-view.tsx';
import { lazy } from '../../kit/lazy.tsx';
import { Problem } from '../../kit/problem.tsx';
import { nameOfModel } from '../../kit/model-name.ts';
import { wordsOfExclusion } from '../state/exclusions.ts';
import { type FieldSpec, valuesOf } from '../state/record-fields.ts';
import { kinds } from '../state/record-forms.ts';
import { lineOf, nameOf } from '../state/record-words.ts';
import { agentFields, type Opened, type RegistryPages } from '../state/registry-pages.ts';
import { ToolTrial } from './lazy-tool-work.tsx';
import { McpSections } from './mcp-sections.tsx';
import { StateBadge } from './state-badge.tsx';
import { Button } from '../../kit/button.tsx';

interface RecordPageProps {
  readonly pages: RegistryPages;
  readonly opened: Opened;
  /** Opens a chat with an agent of this page. */
  readonly onTry: ((agentId: string) => void) | undefined;
}

/** A record of the registry: sections of its kind, all fields, and its history. */
export function RecordPage({ pages, opened, onTry }: RecordPageProps): JSX.Element {
  const { kind, found: { record, isGiven, agents }, history } = opened;
  return (
    <article class='registry-page' data-testid='record-page' data-kind={kind}>
      <div class='registry-lead'>
        <p class='registry-about'>{lineOf(record)}</p>
        <StateBadge record={record} />
      </div>
      <Actions pages={pages} opened={opened} onTry={onTry} />
      <Special pages={pages} opened={opened} onTry={onTry} />
      {kind !== 'agent' && (
        <section>
          <h2>Used by agents</h2>
          {agents.length === 0
            ? <p class='registry-faint'>No agents use it.</p>
            : <Chips ids={agents} onOpen={(id) => void pages.open('agent', id)} />}
        </section>
      )}
      <section>
        <h2>Details</h2>
        <Facts facts={factsOf(kind, record)} />
      </section>
      {!isGiven && (
        <section>
          <h2>History</h2>
          <History entries={history.items} />
          {history.nextPageToken !== undefined && (
            <Button onClick={() => void pages.moreHistory()}>
              Show more
            </Button>
          )}
        </section>
      )}
    </article>
  );
}

/** What a kind has besides its fields. */
function Special({ pages, opened: { found: { record, isGiven, tools }, check } }: RecordPageProps): JSX.Element | null {
  if ('instructions' in record) {
    return (
      <>
        <section>
          <h2>Instructions</h2>
          <pre class='registry-text' tabIndex={0} data-testid='agent-instructions'>{record.instructions || 'None'}</pre>
        </section>
        <section>
          <h2>Tools</h2>
          <AgentTools tools={tools} onOpen={(toolId) => void pages.open('tool', toolId)} />
        </section>
        {record.readOnly !== true && (
          <ShareSection control={pages.control} agentId={record.id} revision={record.revision} />
        )}
      </>
    );
  }
  if ('paramsSchema' in record) {
    return (
      <>
        <ToolParams tool={record} />
        {!isGiven && pages.isHere && <ToolTrial tool={record} control={pages.control} />}
      </>
    );
  }
  if ('alias' in record && record.readOnly !== true) {
    return <McpSections server={record} check={check} control={pages.control} onUse={() => void pages.useInAgent()} />;
  }
  return null;
}

function Actions({ pages, opened: { kind, found }, onTry }: RecordPageProps): JSX.Element {
  const { record, isGiven } = found;
  const isDisabled = record.state === 'disabled';
  const isRemoving = useSignal(false);
  if (record.readOnly === true) {
    return (
      <p class='registry-faint' data-testid='record-read-only'>
        Shared by the deployment. Only its operator can change it.
      </p>
    );
  }
  return (
    <>
      <div class='button-row'>
        {!isGiven && (
          <Button kind='primary' testId='record-edit' onClick={() => void pages.edit()}>
            Edit
          </Button>
        )}
        <Use pages={pages} kind={kind} record={record} onTry={onTry} />
        <Button testId='registry-switch' onClick={() => void pages.setState(isDisabled ? 'active' : 'disabled')}>
          {isDisabled ? 'Enable' : 'Disable'}
        </Button>
        {!isGiven && (
          <Button
            testId='record-remove'
            aria-expanded={isRemoving.value}
            onClick={() => (isRemoving.value = !isRemoving.value)}
          >
            Remove…
          </Button>
        )}
      </div>
      {isGiven && <p class='registry-faint'>This tool is built in. You can disable it, but not edit it.</p>}
      {isRemoving.value && (
        <Removal
          obstacle={obstacleOf(kind, record, found.agents)}
          name={nameOf(record)}
          onRemove={() => void pages.remove()}
          onKeep={() => (isRemoving.value = false)}
        />
      )}
    </>
  );
}

/** What a record is for: an agent answers, and a tool, a server or a source belongs to one. */
function Use({ pages, kind, record, onTry }: {
  readonly pages: RegistryPages;
  readonly kind: RecordKind;
  readonly record: AnyRecord;
  readonly onTry: RecordPageProps['onTry'];
}): JSX.Element | null {
  if (record.state === 'disabled') return null;
  if (kind === 'agent' && onTry) {
    return <Button testId='record-chat' onClick={() => onTry(record.id)}>Chat</Button>;
  }
  if (!agentFields[kind] || ('alias' in record && !record.pinned)) return null;
  const { name } = (pages.agent.value?.written.value ?? {}) as { readonly name?: string }; // of an agent
  return (
    <Button testId='record-use' onClick={() => void pages.useInAgent()}>
      {pages.agent.value ? `Use in ${name?.trim() || 'the agent'}` : 'Use in an agent'}
    </Button>
  );
}

interface RemovalProps {
  /** Why it cannot be removed. */
  readonly obstacle: string | undefined;
  readonly name: string;
  readonly onRemove: () => void;
  readonly onKeep: () => void;
}

/** Asks for confirmation, or says why the record cannot be removed. */
function Removal({ obstacle, name, onRemove, onKeep }: RemovalProps): JSX.Element {
  if (obstacle !== undefined) return <Problem text={obstacle} testId='removal-obstacle' />;
  return (
    <div class='notice' role='alertdialog' aria-label={`Remove ${name}`} data-testid='removal'>
      <p>Remove {name}? Its history is kept, and its id can be reused.</p>
      <div class='button-row'>
        <Button kind='danger' testId='removal-confirm' onClick={onRemove}>Remove</Button>
        <Button testId='removal-keep' onClick={onKeep}>Cancel</Button>
      </div>
    </div>
  );
}

function obstacleOf(kind: RecordKind, record: AnyRecord, agents: readonly string[]): string | undefined {
  if (agents.length > 0) {
    return 'Agents use it, so it cannot be removed. Change those agents first, or disable it.';
  }
  const bound = 'entryTools' in record && record.entryTools.some((entry) => !entry.endsWith('*'));
  return kind === 'agent' && bound
    ? 'Tools are bound to it, so it cannot be removed. Unbind them first, or disable it.'
    : undefined;
}

function factsOf(kind: RecordKind, record: AnyRecord): readonly (readonly [string, string])[] {
  const { fields } = kinds[kind];
  const values = valuesOf(fields, record);
  const own = fields.filter(({ isShownApart, group }) => !isShownApart && group === undefined);
  return [
    ...own.map(({ name, label, as }): [string, string] => [label, inLine(values[name] ?? '', { name, as })]),
    ...[...groupsOf(fields)].map(([group, parts]): [string, string] => [
      group,
      parts.flatMap(({ name, label }) => values[name] === '' ? [] : [`${label}: ${values[name]}`]).join('; '),
    ]),
    ['State', record.state],
    ['Revision', String(record.revision)],
    ...('createdAt' in record
      ? [['Created', formatTime(record.createdAt)], ['Updated', formatTime(record.updatedAt)]] as const
      : []),
  ];
}

function groupsOf(fields: readonly FieldSpec[]): ReadonlyMap<string, readonly FieldSpec[]> {
  return Map.groupBy(fields.filter(({ group }) => group !== undefined), ({ group = '' }) => group);
}

function inLine(value: string, { name, as }: Pick<FieldSpec, 'name' | 'as'>): string {
  if (name === 'kind' || name === 'model') return nameOfModel(value);
  return as === 'lines' || as === 'secrets' || as.startsWith('allowed') ? value.replaceAll('\n', ', ') : value;
}

/** An agent as a file and as a link. */
const ShareSection = lazy(async () => (await import('./share-section.tsx')).ShareSection);

/** What was done to a record, the last first. */
function History({ entries }: { entries: readonly HistoryEntry[] }): JSX.Element {
  return (
    <ol class='registry-history' data-testid='record-history'>
      {entries.map(({ revision, at, by, action, changes }) => (
        <li key={revision}>
          <p>
            <strong>{words[action] ?? action}</strong> by {by.type === 'user' ? 'you' : 'the playground'},{' '}
            <time dateTime={at}>{formatTime(at)}</time> <span class='registry-faint'>revision {revision}</span>
          </p>
          {(action === 'update' || action === 'import') && (
            <Differences differences={changes.filter(({ path }) => path !== '' && path !== '/updatedAt')} />
          )}
        </li>
      ))}
    </ol>
  );
}

const words: Readonly<Record<string, string>> = {
  register: 'Created',
  update: 'Changed',
  disable: 'Disabled',
  enable: 'Enabled',
  import: 'Imported',
  remove: 'Removed',
  bind: 'Bound',
  unbind: 'Unbound',
};

/** A tool's input, and as JSON Schema its output. */
function ToolParams({ tool }: { tool: ToolDefinition }): JSX.Element {
  return (
    <section>
      <h2>Parameters</h2>
      <Parameters schema={tool.paramsSchema} />
      <details class='registry-reason'>
        <summary>Show JSON Schema</summary>
        <JsonView label='Parameters' value={tool.paramsSchema} />
        {tool.outputSchema && <JsonView label='Output' value={tool.outputSchema} />}
      </details>
    </section>
  );
}

/** The properties of an object's schema, each in a line. */
function Parameters({ schema }: { schema: JsonSchema }): JSX.Element {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>); // a JSON Schema, checked by the registry
  const required = new Set((schema['required'] ?? []) as readonly string[]); // as above
  if (properties.length === 0) return <p class='registry-faint'>No parameters.</p>;
  return (
    <dl class='boxed registry-params' data-testid='tool-params'>
      {properties.map(([name, property]) => (
        <div key={name}>
          <dt>
            <code>{name}</code> <span>{typeOf(property)}{required.has(name) ? '' : ', optional'}</span>
          </dt>
          <dd>{typeof property['description'] === 'string' && property['description']}</dd>
        </div>
      ))}
    </dl>
  );
}

function typeOf({ type, enum: options, const: only, anyOf }: JsonSchema): string {
  if (Array.isArray(options)) return `one of ${options.join(', ')}`;
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(anyOf)) return anyOf.map((each: JsonSchema) => typeOf(each)).join(' or ');
  return Array.isArray(type) ? type.join(' or ') : typeof type === 'string' ? type : 'anything';
}

interface AgentToolsProps {
  readonly tools: Manifest['tools'] | undefined;
  readonly onOpen: (toolId: string) => void;
}

/** Which tools an agent's next run has, and why not the others. */
function AgentTools({ tools, onOpen }: AgentToolsProps): JSX.Element {
  if (!tools) return <p class='registry-faint'>A disabled agent has no tools.</p>;
  const included = tools.filter(({ excluded }) => excluded === undefined).map(({ id }) => id);
  const others = Map.groupBy(tools.filter(({ excluded }) => excluded !== undefined), ({ excluded }) => excluded);
  return (
    <>
      <p class='registry-faint' data-testid='agent-tools-count'>{included.length} available in its next run</p>
      <Chips ids={included} onOpen={onOpen} />
      {[...others].map(([reason = '', entries]) => (
        <details key={reason} class='registry-reason' data-testid='excluded-tools' data-reason={reason}>
          <summary>{entries.length} not available: {wordsOfExclusion(reason)}</summary>
          <Chips
            ids={entries.map(({ id }) =>
              id
            )}
            onOpen={onOpen}
          />
        </details>
      ))}
    </>
  );
}
