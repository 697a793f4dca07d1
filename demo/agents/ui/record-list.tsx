import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import type { RecordKind } from '../../../src/registry/index.ts';
import type { AnyRecord } from '../../control/registry-control.ts';
import { kinds } from '../state/record-forms.ts';
import { lineOf, nameOf, tagsOf } from '../state/record-words.ts';
import type { Filter, Listing, RegistryPages } from '../state/registry-pages.ts';
import { formatCount } from '../../kit/format.ts';
import { Icon } from '../../kit/icon.tsx';
import { nameOfModel } from '../../settings/state/model-name.ts';
import { StateBadge } from './state-badge.tsx';

/** The records of one kind, as far as they fit the filter. */
export function RecordList({ pages, kind }: { pages: RegistryPages; kind: RecordKind }): JSX.Element {
  const listing = pages.listing.value;
  return (
    <>
      <div class='registry-lead'>
        <p class='registry-faint'>{kinds[kind].about}</p>
        <button type='button' class='button' data-testid='record-new' onClick={() => void pages.start()}>
          <Icon name='plus' /> New {kinds[kind].one}
        </button>
      </div>
      <Filters key={kind} pages={pages} kind={kind} />
      {listing && (
        <p class='registry-count' role='status' data-testid='registry-count'>
          {countText(kind, listing, pages.filter.value)}
        </p>
      )}
      <ul class='boxed registry-list'>
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

function Row({ record }: { record: AnyRecord }): JSX.Element {
  const name = nameOf(record);
  return (
    <>
      <span class='registry-row-name'>
        {name} {name !== record.id && <code>{record.id}</code>}
      </span>
      <StateBadge record={record} />
      <span class='registry-row-text'>{lineOf(record)}</span>
    </>
  );
}

function Filters({ pages, kind }: { pages: RegistryPages; kind: RecordKind }): JSX.Element {
  const id = useId();
  const { text, tag, visibility, state, type } = pages.filter.value;
  const { filters } = kinds[kind];
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
          onInput={({ currentTarget }) => void pages.setFilter({ text: currentTarget.value })}
        />
      </label>
      {filters.tag && (
        <label>
          <span>Tag</span>
          <input
            type='search'
            list={`${id}-tags`}
            data-testid='registry-tag'
            maxLength={200}
            value={tag}
            onInput={({ currentTarget }) => void pages.setFilter({ tag: currentTarget.value })}
          />
          <datalist id={`${id}-tags`}>
            {[...tags].slice(0, 50).map((known) => <option key={known} value={known} />)}
          </datalist>
        </label>
      )}
      {filters.type && (
        <Choice
          label={kind === 'tool' ? 'Type' : 'Kind'}
          value={type}
          options={filters.type}
          onChoose={(chosen) => void pages.setFilter({ type: chosen })}
        />
      )}
      {filters.visibility && (
        <Choice
          label='Visibility'
          value={visibility}
          options={filters.visibility}
          onChoose={(chosen) => void pages.setFilter({ visibility: chosen as Filter['visibility'] })} // one of the options
        />
      )}
      <Choice
        label='State'
        value={state}
        options={['active', 'disabled']}
        onChoose={(chosen) => void pages.setFilter({ state: chosen as Filter['state'] })}
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
        <option value=''>Any</option>
        {options.map((option) => <option key={option} value={option}>{nameOfModel(option)}</option>)}
      </select>
    </label>
  );
}

function countText(kind: RecordKind, { items, nextPageToken }: Listing, filter: Filter): string {
  const isNarrowed = Object.values(filter).some((value) => value.trim() !== '');
  if (items.length === 0) return isNarrowed ? 'No results' : `No ${kinds[kind].one}s yet.`;
  const count = formatCount(items.length, kinds[kind].one);
  return nextPageToken === undefined ? count : `First ${count}`;
}
