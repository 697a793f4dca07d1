import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import type { RecordKind } from '../../../src/registry/index.ts';
import { type AgentDraft, discoveryPattern } from '../state/agent-draft.ts';
import type { FieldValues } from '../state/record-fields.ts';
import type { RegistryPages } from '../state/registry-pages.ts';
import { modelContext } from '../../../adapters/webmcp/model-context.ts';
import type { AnyRecord } from '../../control/registry-control.ts';

import { lineOf, nameOf } from '../state/record-words.ts';
import { formatCount } from '../../kit/format.ts';
import { Icon } from '../../kit/icon.tsx';
import { pageToolsUrl } from '../../webmcp/page-url.ts';
import { Button } from '../../kit/button.tsx';

interface PicksProps {
  readonly draft: AgentDraft;
}

/** What the agent may use: tools by search, whole tool sets, MCP servers, files, and what is made for it. */
export function AgentPicks({ draft, pages }: PicksProps & { pages: RegistryPages }): JSX.Element {
  const { sets, servers, sources } = draft;
  const hasPage = servers.value.some((server) => 'url' in server && server.url === pageToolsUrl());
  const make = (testId: string, title: string, kind: RecordKind, preset: FieldValues): JSX.Element => (
    <Button
      icon='plus'
      testId={testId}
      onClick={() => void pages.make(kind, preset)}
    >
      {title}
    </Button>
  );
  return (
    <section class='agent-picks'>
      <h2>Tools</h2>
      <Chosen draft={draft} />
      <Search draft={draft} />
      <div class='button-row'>
        {make('make-http', 'HTTP tool', 'tool', { type: 'http', config: '{}' })}
        {make('make-code', 'Code tool', 'tool', { type: 'code', config: codeToStart })}
        {make('make-server', 'MCP server by URL', 'mcpServer', {})}
        {pages.isHere && modelContext() && !hasPage &&
          make('make-page-tools', 'Tools of this page', 'mcpServer', {
            id: 'page',
            alias: 'page',
            url: pageToolsUrl(),
          })}
      </div>
      {sets.value.length > 0 && <ToolSets draft={draft} />}
      <Selection draft={draft} field='mcp' title='MCP servers' records={servers.value} />
      <Selection draft={draft} field='dataSources' title='Files' records={sources.value} />
    </section>
  );
}

const codeToStart = JSON.stringify({ code: '// input is what the model sends; return what it gets\nreturn input;\n' });

function Chosen({ draft }: PicksProps): JSX.Element {
  const chosen = (draft.form.values.value['entryTools'] ?? '').split('\n').filter((id) => id.trim() !== '');
  const error = draft.form.errors.value['entryTools'];
  return (
    <section>
      <p class='registry-faint'>
        {chosen.length === 0 ? 'No tools yet. The agent can only chat.' : 'The agent can use:'}
      </p>
      {error !== undefined && <p class='field-error' role='alert'>{error}</p>}
      <ul class='chips'>
        {chosen.map((id) => (
          <li key={id}>
            <button
              type='button'
              class='chip registry-chip'
              data-testid='chosen-tool'
              aria-label={`Remove ${id}`}
              onClick={() => draft.toggle('entryTools', id)}
            >
              {id} <Icon name='cross' />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Search({ draft }: PicksProps): JSX.Element {
  const id = useId();
  const found = draft.tools.value;
  return (
    <section>
      <div class='field'>
        <label for={id}>Find tools</label>
        <input
          id={id}
          type='search'
          autocomplete='off'
          data-testid='tool-query'
          placeholder={`Search ${draft.total.value.toLocaleString('en')} tools by name or description`}
          value={draft.query.value}
          onInput={({ currentTarget }) => void draft.search(currentTarget.value)}
        />
      </div>
      <p class='visually-hidden' role='status'>
        {found.length === 0 ? 'No results' : formatCount(found.length, 'tool')}
      </p>
      <ul class='builder-picks'>
        {found.map((tool) => <Pick key={tool.id} draft={draft} field='entryTools' record={tool} />)}
      </ul>
      {found.length === 0 && draft.query.value !== '' && <p class='registry-faint'>No results</p>}
      {draft.hasMore.value && (
        <p class='registry-faint'>
          {(draft.total.value - found.length).toLocaleString('en')} more. Search to find them.
        </p>
      )}
    </section>
  );
}

/** One that can be taken or left. */
function Pick({ draft, field, record }: {
  readonly draft: AgentDraft;
  readonly field: string;
  readonly record: AnyRecord;
}): JSX.Element {
  const name = nameOf(record);
  return (
    <li>
      <label class='builder-pick' data-testid='pick' data-id={record.id}>
        <input
          type='checkbox'
          checked={draft.has(field, record.id)}
          onChange={() => draft.toggle(field, record.id)}
        />
        <span class='registry-row-name'>
          {name} {name !== record.id && <code>{record.id}</code>}
        </span>
        <span class='builder-pick-text'>{lineOf(record)}</span>
      </label>
    </li>
  );
}

function ToolSets({ draft }: PicksProps): JSX.Element {
  const toggle = (pattern: string): void => {
    draft.toggle('entryTools', pattern);
    const hasOne = draft.sets.value.some((bench) => draft.has('entryTools', bench.pattern));
    if (hasOne !== draft.has('entryTools', discoveryPattern)) draft.toggle('entryTools', discoveryPattern);
  };
  return (
    <section>
      <h3>Tool sets</h3>
      <p class='registry-faint'>
        The agent starts with four tools that find and load the others when needed.
      </p>
      <ul class='builder-picks'>
        {draft.sets.value.map(({ pattern, count }) => (
          <li key={pattern}>
            <label class='builder-pick' data-testid='bench' data-pattern={pattern}>
              <input type='checkbox' checked={draft.has('entryTools', pattern)} onChange={() => toggle(pattern)} />
              <span class='registry-row-name'>
                All of <code>{pattern}</code>
              </span>
              <span class='builder-pick-text'>{formatCount(count, 'tool')}, found by discovery</span>
            </label>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Selection({ draft, field, title, records }: {
  readonly draft: AgentDraft;
  readonly field: 'mcp' | 'dataSources';
  readonly title: string;
  readonly records: readonly AnyRecord[];
}): JSX.Element | null {
  if (records.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <ul class='builder-picks'>
        {records.map((record) => <Pick key={record.id} draft={draft} field={field} record={record} />)}
      </ul>
    </section>
  );
}
