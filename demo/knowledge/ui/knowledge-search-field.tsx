import type { JSX } from 'preact';
import type { KnowledgeSearch } from '../state/knowledge-search.ts';
import { Icon } from '../../kit/icon.tsx';

/** What is looked for, and in which files. */
export function KnowledgeSearchField({ search }: { search: KnowledgeSearch }): JSX.Element {
  const scope = search.scope.value;
  const text = search.text.value;
  return (
    <div class='know-search' role='search'>
      <div class='tree-search'>
        <Icon name='search' />
        <input
          type='text'
          aria-label='Search your files'
          placeholder='Search your files'
          autocomplete='off'
          spellcheck={false}
          maxLength={4096}
          data-testid='knowledge-search'
          value={text}
          onInput={({ currentTarget }) => search.type(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape' || event.isComposing || text === '') return;
            search.type('');
            event.preventDefault();
          }}
        />
        {text !== '' && (
          <button
            type='button'
            class='icon-button'
            aria-label='Clear search'
            onClick={() => search.type('')}
          >
            <Icon name='cross' />
          </button>
        )}
      </div>
      {scope.length > 0 && (
        <ul class='know-scope' aria-label='Search filter'>
          {scope.map((name) => (
            <li key={name}>
              <button
                type='button'
                class='chip'
                data-testid='knowledge-scope'
                title={`Search all files, not only “${name}”`}
                onClick={() => search.searchIn(scope.filter((other) => other !== name))}
              >
                <span>only in {lastOf(name)}</span>
                <Icon name='cross' />
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function lastOf(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
