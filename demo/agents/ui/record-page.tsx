/** The sharing of an agent, loaded when an agent is opened. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { RecordKind } from '../../../src/registry/index.ts';
import type { AnyRecord } from '../../control/registry-control.ts';
import { Chips } from '../../kit/chips.tsx';
import { Facts } from '../../kit/facts.tsx';
import { formatTime } from '../../kit/format.ts';
import { lazy } from '../../kit/lazy.tsx';
import { Problem } from '../../kit/problem.tsx';
import { nameOfModel } from '../../settings/state/model-name.ts';
import { type FieldSpec, valuesOf } from '../state/record-fields.ts';
import { kinds } from '../state/record-forms.ts';
import { lineOf, nameOf } from '../state/record-words.ts';
import { agentFields, type Opened, type RegistryPages } from '../state/registry-pages.ts';
import { AgentTools } from './agent-tools.tsx';
import { ToolTrial } from './lazy-tool-work.tsx';
import { McpSections } from './mcp-sections.tsx';
import { History } from './record-history.tsx';
import { StateBadge } from './state-badge.tsx';
import { ToolParams } from './tool-params.tsx';

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
            <button
              type='button'
              class='button'
              onClick={() => void pages.moreHistory()}
            >
              Show more
            </button>
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
          <button
            type='button'
            class='button is-primary'
            data-testid='record-edit'
            onClick={() => void pages.edit()}
          >
            Edit
          </button>
        )}
        <Use pages={pages} kind={kind} record={record} onTry={onTry} />
        <button
          type='button'
          class='button'
          data-testid='registry-switch'
          onClick={() => void pages.setState(isDisabled ? 'active' : 'disabled')}
        >
          {isDisabled ? 'Enable' : 'Disable'}
        </button>
        {!isGiven && (
          <button
            type='button'
            class='button'
            data-testid='record-remove'
            aria-expanded={isRemoving.value}
            onClick={() => (isRemoving.value = !isRemoving.value)}
          >
            Remove…
          </button>
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
    return (
      <button type='button' class='button' data-testid='record-chat' onClick={() => onTry(record.id)}>Chat</button>
    );
  }
  if (!agentFields[kind] || ('alias' in record && !record.pinned)) return null;
  const { name } = (pages.agent.value?.written.value ?? {}) as { readonly name?: string }; // of an agent
  return (
    <button type='button' class='button' data-testid='record-use' onClick={() => void pages.useInAgent()}>
      {pages.agent.value ? `Use in ${name?.trim() || 'the agent'}` : 'Use in an agent'}
    </button>
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
        <button type='button' class='button is-danger' data-testid='removal-confirm' onClick={onRemove}>Remove</button>
        <button type='button' class='button' data-testid='removal-keep' onClick={onKeep}>Cancel</button>
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
