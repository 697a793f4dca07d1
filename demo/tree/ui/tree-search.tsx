import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { TreePanel } from '../state/tree-panel.ts';
import type { FoundNode, FoundPage } from '../../control/tree-control.ts';
import { formatCount } from '../../kit/format.ts';
import { Icon } from '../../kit/icon.tsx';

/** Finds nodes by their names, wherever they are. */
export function TreeSearch({ panel }: { panel: TreePanel }): JSX.Element {
  const { query, result, chosen, find, step } = panel.finding;
  const found = result.value?.found ?? [];
  const go = (node: FoundNode | undefined): void => {
    if (!node) return;
    void find('');
    void panel.show(node.nodeId).then(() => focusTree());
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (event.key === 'ArrowDown') step(1);
    else if (event.key === 'ArrowUp') step(-1);
    else if (event.key === 'Enter') go(found[chosen.value]);
    else if (event.key === 'Escape' && query.value !== '') void find('');
    else return;
    event.preventDefault();
  };
  return (
    <div class='tree-search' onFocusOut={(event) => isLeft(event) && void find('')}>
      <Icon name='search' />
      <input
        type='text'
        role='combobox'
        aria-label='Search the tree'
        aria-expanded={result.value !== undefined}
        aria-controls='tree-found'
        aria-activedescendant={found[chosen.value] && `tree-found-${chosen.value}`}
        placeholder='Search the tree'
        autocomplete='off'
        data-testid='tree-search'
        value={query.value}
        onInput={({ currentTarget }) => void find(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {result.value && <Found page={result.value} query={query.value} chosen={chosen.value} onGo={go} />}
    </div>
  );
}

/** Whether the focus goes elsewhere than within the search. */
function isLeft({ currentTarget, relatedTarget }: FocusEvent): boolean {
  return !(currentTarget instanceof Element && relatedTarget instanceof Node && currentTarget.contains(relatedTarget));
}

function focusTree(): void {
  document.querySelector<HTMLElement>('.tree-list')?.focus({ preventScroll: true });
}

interface FoundProps {
  readonly page: FoundPage;
  readonly query: string;
  readonly chosen: number;
  readonly onGo: (node: FoundNode) => void;
}

function Found({ page: { found, scanned, tookMs, hasMore }, query, chosen, onGo }: FoundProps): JSX.Element {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => list.current?.children[chosen]?.scrollIntoView?.({ block: 'nearest' }), [chosen]);
  const nodes = formatCount(scanned, 'node');
  return (
    <div class='tree-found'>
      <ul id='tree-found' role='listbox' aria-label='Search results' ref={list}>
        {found.map((node, i) => (
          <li
            key={node.nodeId}
            id={`tree-found-${i}`}
            role='option'
            aria-selected={i === chosen}
            data-testid='tree-found'
            onMouseDown={(event) => {
              event.preventDefault();
              onGo(node);
            }}
          >
            <Marked text={node.name} query={query.trim()} />
            <span class='hint'>{node.path.slice(1).join(' › ')}</span>
          </li>
        ))}
      </ul>
      <p class='tree-found-note' role='status'>
        {hasMore
          ? `First ${found.length} results. Searched ${nodes} in ${Math.max(1, Math.round(tookMs))} ms`
          : `${formatCount(found.length, 'result')} in ${nodes}, ${Math.max(1, Math.round(tookMs))} ms`}
      </p>
    </div>
  );
}

/** The name with what was looked for. */
function Marked({ text, query }: { text: string; query: string }): JSX.Element {
  const at = text.toLowerCase().indexOf(query.toLowerCase());
  if (at < 0) return <span>{text}</span>;
  const end = at + query.length;
  return (
    <span>
      {text.slice(0, at)}
      <mark>{text.slice(at, end)}</mark>
      {text.slice(end)}
    </span>
  );
}
