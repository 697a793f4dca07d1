import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import type { Agent, ToolDefinition } from '../../../src/index.ts';
import type { PageKind } from '../../registry/control.ts';
import { formatCount } from '../format.ts';
import { type Filter, type Listing, nameOf, type RegistryPages, tagsOf } from '../../state/registry-pages.ts';

const tabs: readonly { readonly kind: PageKind; readonly label: string }[] = [
  { kind: 'agent', label: 'Agents' },
  { kind: 'tool', label: 'Tools' },
];

/** The records of one kind, as far as they fit the filter. */
export function RecordList({ pages }: { pages: RegistryPages }): JSX.Element {
  const listing = pages.listing.value;
  const kind = pages.kind.value;
  return (
    <>
      <div class='registry-tabs' role='group' aria-label='Kind of record'>
        {tabs.map((tab) => (
          <button
            key={tab.kind}
            type='button'
            class='registry-tab'
            data-testid={`registry-tab-${tab.kind}`}
            aria-pressed={tab.kind === kind}
            onClick={() => void pages.show(tab.kind)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <Filters key={kind} pages={pages} />
      {listing && (
        <p class='registry-count' role='status' data-testid='registry-count'>
          {countText(kind, listing)}
        </p>
      )}
      <ul class='registry-list'>
        {listing?.items.map((record) => (
          <li key={record.id}>
            <button
              type='button'
              class='registry-row'
              data-testid='registry-row'
              data-id={record.id}
              onClick={() => void pages.open(kind, record.id)}
            >
              <Row record={record} />
            </button>
          </li>
        ))}
      </ul>
      {listing?.nextPageToken !== undefined && (
        <button
          type='button'
          class='button'
          data-testid='registry-more'
          onClick={() => void pages.more()}
        >
          Show more
        </button>
      )}
    </>
  );
}

function Row({ record }: { record: Agent | ToolDefinition }): JSX.Element {
  return (
    <>
      <span class='registry-row-name'>
        {nameOf(record)} <code>{record.id}</code>
      </span>
      <StateBadge record={record} />
      <span class='registry-row-text'>{record.description}</span>
    </>
  );
}

/** Says where a record is out of service, or not for everyone. */
export function StateBadge({ record }: { record: Agent | ToolDefinition }): JSX.Element | null {
  const word = record.state === 'disabled' ? 'disabled' : record.visibility;
  if (word === 'public') return null;
  return <span class='chip registry-badge' data-badge={word}>{word}</span>;
}

function Filters({ pages }: { pages: RegistryPages }): JSX.Element {
  const id = useId();
  const { text, tag, visibility, state } = pages.filter.value;
  const last = pages.kind.value === 'agent' ? 'disabled' : 'hidden';
  const tags = new Set(pages.listing.value?.items.flatMap(tagsOf));
  return (
    <div class='registry-filters' role='search' aria-label='Filter'>
      <label class='registry-filter-text'>
        <span>Text</span>
        <input
          type='search'
          data-testid='registry-text'
          placeholder='Name, id or description'
          maxLength={200}
          value={text}
          onInput={({ currentTarget }) => void pages.narrow({ text: currentTarget.value })}
        />
      </label>
      <label>
        <span>Tag</span>
        <input
          type='search'
          list={`${id}-tags`}
          data-testid='registry-tag'
          maxLength={200}
          value={tag}
          onInput={({ currentTarget }) => void pages.narrow({ tag: currentTarget.value })}
        />
        <datalist id={`${id}-tags`}>
          {[...tags].slice(0, 50).map((known) => <option key={known} value={known} />)}
        </datalist>
      </label>
      <Choice
        label='Visibility'
        value={visibility}
        options={['public', 'internal', last]}
        onChoose={(chosen) => void pages.narrow({ visibility: chosen as Filter['visibility'] })}
      />
      <Choice
        label='State'
        value={state}
        options={['active', 'disabled']}
        onChoose={(chosen) => void pages.narrow({ state: chosen as Filter['state'] })}
      />
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly string[];
  readonly onChoose: (value: string) => void;
}

function Choice({ label, value, options, onChoose }: ChoiceProps): JSX.Element {
  return (
    <label>
      <span>{label}</span>
      <select
        data-testid={`registry-${label.toLowerCase()}`}
        value={value}
        onChange={({ currentTarget }) => onChoose(currentTarget.value)}
      >
        <option value=''>any</option>
        {options.map((option) => <option key={option} value={option}>{option}</option>)}
      </select>
    </label>
  );
}

function countText(kind: PageKind, { items, nextPageToken }: Listing): string {
  if (items.length === 0) return 'Nothing fits.';
  return `${formatCount(items.length, kind)}${nextPageToken === undefined ? '' : ' and more'}`;
}
