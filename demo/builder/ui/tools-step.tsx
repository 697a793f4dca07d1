import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { modelContext } from '../../../adapters/webmcp/model-context.ts';
import type { AnyRecord } from '../../registry/worker/control.ts';
import type { Builder } from '../state/builder.ts';
import { discoveryPattern } from '../state/builder-tools.ts';
import { lineOf, nameOf } from '../../registry/state/record-words.ts';
import { formatCount } from '../../kit/format.ts';
import { Icon } from '../../kit/icon.tsx';
import { pageToolsUrl } from '../../webmcp/page-url.ts';

/** What the agent may use: tools by search, whole benches, own ones, MCP servers, data sources. */
export function ToolsStep({ builder }: { builder: Builder }): JSX.Element {
  const { finder, servers, sources } = builder;
  return (
    <>
      <Chosen builder={builder} />
      <section>
        <h3>Create a tool</h3>
        <p class='registry-faint'>An API request or a few lines of code. Test it before you save.</p>
        <div class='button-row'>
          <Make builder={builder} kind='tool' preset={{ type: 'http', config: '{}' }} testId='make-http'>
            HTTP tool
          </Make>
          <Make builder={builder} kind='tool' preset={{ type: 'code', config: codeToStart }} testId='make-code'>
            Code tool
          </Make>
          <Make builder={builder} kind='mcpServer' preset={{}} testId='make-server'>MCP server by URL</Make>
          {modelContext() && !hasPage(builder) && (
            <Make builder={builder} kind='mcpServer' preset={pageServer()} testId='make-page-tools'>
              Tools of this page
            </Make>
          )}
        </div>
      </section>
      <Search builder={builder} />
      {finder.benches.value.length > 0 && <Benches builder={builder} />}
      <Selection builder={builder} field='mcp' title='MCP servers' records={servers.value} />
      <Selection builder={builder} field='dataSources' title='Files' records={sources.value} />
    </>
  );
}

const codeToStart = JSON.stringify({ code: '// input is what the model sends; return what it gets\nreturn input;\n' });

/** The record that stands for the page. */
function pageServer(): Readonly<Record<string, string>> {
  return { id: 'page', alias: 'page', url: pageToolsUrl() };
}

function hasPage({ servers }: Builder): boolean {
  return servers.value.some((server) => 'url' in server && server.url === pageToolsUrl());
}

function Make({ builder, kind, preset, testId, children }: {
  readonly builder: Builder;
  readonly kind: 'tool' | 'mcpServer';
  readonly preset: Readonly<Record<string, string>>;
  readonly testId: string;
  readonly children: string;
}): JSX.Element {
  return (
    <button type='button' class='button' data-testid={testId} onClick={() => void builder.make(kind, preset)}>
      <Icon name='plus' /> {children}
    </button>
  );
}

function Chosen({ builder }: { builder: Builder }): JSX.Element {
  const chosen = (builder.form.value?.values.value['entryTools'] ?? '').split('\n').filter((id) => id.trim() !== '');
  const error = builder.form.value?.errors.value['entryTools'];
  return (
    <section>
      <p class='registry-faint' data-testid='chosen-count'>
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
              onClick={() => builder.toggle('entryTools', id)}
            >
              {id} <Icon name='cross' />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Search({ builder }: { builder: Builder }): JSX.Element {
  const id = useId();
  const { finder } = builder;
  const found = finder.found.value;
  return (
    <section>
      <div class='field'>
        <label for={id}>Find tools</label>
        <input
          id={id}
          type='search'
          autocomplete='off'
          data-testid='tool-query'
          placeholder={`Search ${finder.total.value.toLocaleString('en')} tools by name or description`}
          value={finder.query.value}
          onInput={({ currentTarget }) => void finder.search(currentTarget.value)}
        />
      </div>
      <p class='visually-hidden' role='status'>
        {found.length === 0 ? 'No results' : formatCount(found.length, 'tool')}
      </p>
      <ul class='builder-picks' data-testid='tool-picks'>
        {found.map((tool) => <Pick key={tool.id} builder={builder} field='entryTools' record={tool} />)}
      </ul>
      {found.length === 0 && finder.query.value !== '' && <p class='registry-faint'>No results</p>}
      {finder.hasMore.value && (
        <p class='registry-faint'>
          {(finder.total.value - found.length).toLocaleString('en')} more. Search to find them.
        </p>
      )}
    </section>
  );
}

/** One that can be taken or left. */
function Pick({ builder, field, record }: {
  readonly builder: Builder;
  readonly field: string;
  readonly record: AnyRecord;
}): JSX.Element {
  const name = nameOf(record);
  return (
    <li>
      <label class='builder-pick' data-testid='pick' data-id={record.id}>
        <input
          type='checkbox'
          checked={builder.has(field, record.id)}
          onChange={() => builder.toggle(field, record.id)}
        />
        <span class='registry-row-name'>
          {name} {name !== record.id && <code>{record.id}</code>}
        </span>
        <span class='builder-pick-text'>{lineOf(record)}</span>
      </label>
    </li>
  );
}

function Benches({ builder }: { builder: Builder }): JSX.Element {
  const toggle = (pattern: string): void => {
    builder.toggle('entryTools', pattern);
    const { benches } = builder.finder;
    const hasOne = benches.value.some((bench) => builder.has('entryTools', bench.pattern));
    if (hasOne !== builder.has('entryTools', discoveryPattern)) builder.toggle('entryTools', discoveryPattern);
  };
  return (
    <section>
      <h3>Tool sets</h3>
      <p class='registry-faint'>
        The agent starts with four tools that find and load the others when needed.
      </p>
      <ul class='builder-picks'>
        {builder.finder.benches.value.map(({ pattern, count }) => (
          <li key={pattern}>
            <label class='builder-pick' data-testid='bench' data-pattern={pattern}>
              <input type='checkbox' checked={builder.has('entryTools', pattern)} onChange={() => toggle(pattern)} />
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

function Selection({ builder, field, title, records }: {
  readonly builder: Builder;
  readonly field: 'mcp' | 'dataSources';
  readonly title: string;
  readonly records: readonly AnyRecord[];
}): JSX.Element | null {
  if (records.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <ul class='builder-picks'>
        {records.map((record) => <Pick key={record.id} builder={builder} field={field} record={record} />)}
      </ul>
    </section>
  );
}
