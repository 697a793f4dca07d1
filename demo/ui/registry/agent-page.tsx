import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Agent, HistoryEntry, Manifest } from '../../../src/index.ts';
import { limitLabels, type LimitName } from '../../state/agent-fields.ts';
import { wordsOfExclusion } from '../../state/exclusions.ts';
import type { Opened, RegistryPages } from '../../state/registry-pages.ts';
import { StateBadge } from './record-list.tsx';
import { Facts } from './facts.tsx';

interface AgentPageProps {
  readonly pages: RegistryPages;
  readonly opened: Extract<Opened, { kind: 'agent' }>;
}

/** An agent as it stands in the registry, with its tools and its history. */
export function AgentPage({ pages, opened: { found: { agent, tools }, history } }: AgentPageProps): JSX.Element {
  const isDisabled = agent.state === 'disabled';
  return (
    <article class='registry-page' data-testid='agent-page'>
      <div class='registry-lead'>
        <p>{agent.description}</p>
        <StateBadge record={agent} />
      </div>
      <div class='button-row'>
        <button type='button' class='button is-primary' data-testid='agent-edit' onClick={() => pages.edit()}>
          Edit
        </button>
        <button
          type='button'
          class='button'
          data-testid='registry-switch'
          onClick={() => void pages.setState(isDisabled ? 'active' : 'disabled')}
        >
          {isDisabled ? 'Enable' : 'Disable'}
        </button>
      </div>
      <section>
        <h2>Instructions</h2>
        <pre class='registry-text' tabIndex={0} data-testid='agent-instructions'>{agent.instructions || 'None'}</pre>
      </section>
      <section>
        <h2>Tools</h2>
        <Tools tools={tools} onOpen={(toolId) => void pages.open('tool', toolId)} />
      </section>
      <section>
        <h2>Record</h2>
        <Facts facts={factsOf(agent)} />
      </section>
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
    </article>
  );
}

function factsOf(agent: Agent): readonly (readonly [string, string])[] {
  const limits = Object.entries(agent.limits ?? {});
  return [
    ['Id', agent.id],
    ['Name', agent.name],
    ['Role', agent.role],
    ['Version', agent.version],
    ['Revision', String(agent.revision)],
    ['Visibility', agent.visibility],
    ['State', agent.state],
    ['Tags', agent.tags.join(', ')],
    ['Allowlist', agent.entryTools.join(', ')],
    ['Provider', agent.providerId],
    ['Model', agent.model ?? 'the provider’s'],
    ['Model settings', agent.modelSettings ? JSON.stringify(agent.modelSettings) : 'the provider’s'],
    ['MCP servers', Object.keys(agent.mcp).join(', ')],
    ['Secrets', agent.secrets.map(({ id }) => id).join(', ')],
    ['Data sources', agent.dataSources.join(', ')],
    ['Limits', limits.map(([name, value]) => `${limitLabels[name as LimitName]}: ${value}`).join('; ')], // its own fields
    ['Created', timeOf(agent.createdAt)],
    ['Updated', timeOf(agent.updatedAt)],
  ];
}

interface ToolsProps {
  readonly tools: Manifest['tools'] | undefined;
  readonly onOpen: (toolId: string) => void;
}

function Tools({ tools, onOpen }: ToolsProps): JSX.Element {
  if (!tools) return <p class='registry-faint'>A disabled agent has none.</p>;
  const included = tools.filter(({ excluded }) => excluded === undefined).map(({ id }) => id);
  const others = Map.groupBy(tools.filter(({ excluded }) => excluded !== undefined), ({ excluded }) => excluded);
  return (
    <>
      <p class='registry-faint' data-testid='agent-tools-count'>{included.length} in its next run</p>
      <ToolChips ids={included} onOpen={onOpen} />
      {[...others].map(([reason = '', entries]) => (
        <details key={reason} class='registry-reason' data-testid='excluded-tools' data-reason={reason}>
          <summary>{entries.length} left out: {wordsOfExclusion(reason)}</summary>
          <ToolChips
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

const shownAtFirst = 40;

function ToolChips({ ids, onOpen }: { ids: readonly string[]; onOpen: (toolId: string) => void }): JSX.Element {
  const isWhole = useSignal(false);
  const shown = isWhole.value ? ids : ids.slice(0, shownAtFirst);
  return (
    <ul class='chips'>
      {shown.map((id) => (
        <li key={id}>
          <button type='button' class='chip registry-chip' onClick={() => onOpen(id)}>{id}</button>
        </li>
      ))}
      {shown.length < ids.length && (
        <li>
          <button type='button' class='quiet-button' onClick={() => (isWhole.value = true)}>
            {ids.length - shown.length} more
          </button>
        </li>
      )}
    </ul>
  );
}

function History({ entries }: { entries: readonly HistoryEntry[] }): JSX.Element {
  return (
    <ol class='registry-history' data-testid='agent-history'>
      {entries.map(({ revision, at, by, action, changes }) => (
        <li key={revision}>
          <p>
            <strong>{words[action] ?? action}</strong> by {by.type === 'user' ? 'you' : 'the playground'},{' '}
            <time dateTime={at}>{timeOf(at)}</time> <span class='registry-faint'>revision {revision}</span>
          </p>
          {action === 'update' && (
            <ul>
              {changes.filter(({ path }) => path !== '/updatedAt').map(({ path, from, to }) => (
                <li key={path}>
                  <code>{path.slice(1)}</code> {from !== undefined && <del>{textOf(from)}</del>}{' '}
                  {to !== undefined && <ins>{textOf(to)}</ins>}
                </li>
              ))}
            </ul>
          )}
        </li>
      ))}
    </ol>
  );
}

const words: Readonly<Record<string, string>> = {
  register: 'Registered',
  update: 'Changed',
  disable: 'Disabled',
  enable: 'Enabled',
  import: 'Imported',
};

const longest = 120;

function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

function timeOf(at: string): string {
  return new Date(at).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'short' });
}
