import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import type { RecordKind } from '../../../src/registry/index.ts';
import type { AnyRecord } from '../../control/registry-control.ts';
import { kinds } from '../state/record-forms.ts';
import { lineOf, nameOf, tagsOf, wordOfValue } from '../state/record-words.ts';
import type { Filter, Listing, RegistryPages } from '../state/registry-pages.ts';
import { formatCount } from '../../kit/format.ts';
import { StateBadge } from './state-badge.tsx';
import { Choice } from '../../kit/choice.tsx';
import { Button } from '../../kit/button.tsx';

/** The records of one kind, as far as they fit the filter. */
export function RecordList({ pages, kind }: { pages: RegistryPages; kind: RecordKind }): JSX.Element {
  const listing = pages.listing.value;
  return (
    <>
      <div class='registry-lead'>
        <p class='registry-faint'>{kinds[kind].about}</p>
        <Button icon='plus' testId='record-new' onClick={() => void pages.start()}>New {kinds[kind].one}</Button>
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
        <Button testId='registry-more' onClick={() => void pages.more()}>
          Show more
        </Button>
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
  const { text, visibility, state, type } = pages.filter.value;
  const { filters } = kinds[kind];
  return (
    <div class='registry-filters' role='search' aria-label='Filter'>
      <label class='field registry-filter-text'>
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
      {filters.tag && <TagFilter pages={pages} />}
      {filters.type && (
        <Choice
          label={kind === 'tool' ? 'Type' : 'Kind'}
          testId={kind === 'tool' ? 'registry-type' : 'registry-kind'}
          value={type}
          options={anyOf(filters.type)}
          onChoose={(chosen) => void pages.setFilter({ type: chosen })}
        />
      )}
      {filters.visibility && (
        <Choice
          label='Visibility'
          testId='registry-visibility'
          value={visibility}
          options={anyOf(filters.visibility)}
          onChoose={(chosen) => void pages.setFilter({ visibility: chosen as Filter['visibility'] })} // one of the options
        />
      )}
      <Choice
        label='State'
        testId='registry-state'
        value={state}
        options={anyOf(['active', 'disabled'])}
        onChoose={(chosen) => void pages.setFilter({ state: chosen as Filter['state'] })}
      />
    </div>
  );
}

function TagFilter({ pages }: { readonly pages: RegistryPages }): JSX.Element {
  const id = useId();
  const tags = new Set(pages.listing.value?.items.flatMap(tagsOf));
  return (
    <label class='field'>
      <span>Tag</span>
      <input
        type='search'
        list={`${id}-tags`}
        data-testid='registry-tag'
        maxLength={200}
        value={pages.filter.value.tag}
        onInput={({ currentTarget }) => void pages.setFilter({ tag: currentTarget.value })}
      />
      <datalist id={`${id}-tags`}>
        {[...tags].slice(0, 50).map((known) => <option key={known} value={known} />)}
      </datalist>
    </label>
  );
}

function anyOf(options: readonly string[]): (readonly [string, string])[] {
  return [['', 'Any'], ...options.map((option) => [option, wordOfValue(option)] as const)];
}

function countText(kind: RecordKind, { items, nextPageToken }: Listing, filter: Filter): string {
  const isNarrowed = Object.values(filter).some((value) => value.trim() !== '');
  if (items.length === 0) return isNarrowed ? 'No results' : `No ${kinds[kind].one}s yet.`;
  const count = formatCount(items.length, kinds[kind].one);
  return nextPageToken === undefined ? count : `First ${count}`;
}
