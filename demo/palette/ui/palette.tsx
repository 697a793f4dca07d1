import { useSignal } from '@preact/signals';
import { Fragment, type JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Playground } from '../../app/state/playground.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { Icon } from '../../kit/icon.tsx';
import { isCovered } from '../../app/state/screens.ts';
import { MarkedText } from '../../knowledge/ui/marked-text.tsx';
import type { Command } from './commands.ts';
import { searchingOf } from './searching.ts';

interface Answer {
  readonly query: string;
  readonly commands: readonly Command[];
}

/** Finds whatever can be done on the page by a few letters, and does it. */
export function Palette({ playground }: { playground: Playground }): JSX.Element {
  const { overlay, focusRequests } = playground;
  const query = useSignal('');
  const at = useSignal(0);
  const all = useSignal<readonly Command[]>([]);
  /** What was found last, and for what. */
  const answer = useSignal<Answer>({ query: '', commands: [] });
  /** Enter was pressed before there was an answer. */
  const isWaiting = useRef(false);
  const wanted = query.value.trim();
  useLayoutEffect(() => void (all.value = searchingOf(playground).prepare()), []);
  useEffect(() => {
    if (wanted === '') return undefined;
    let isOver = false;
    const show = (commands: readonly Command[]): void => {
      if (isOver) return;
      answer.value = { query: wanted, commands };
      if (isWaiting.current) go(orderOf(commands)[0]);
    };
    void searchingOf(playground).find(wanted).then(show, () => show([]));
    return () => void (isOver = true);
  }, [wanted]);
  const found = wanted === '' ? startOf(all.value) : orderOf(answer.value.commands);
  const isCurrent = wanted === '' || answer.value.query === wanted;
  const chosen = Math.min(at.value, found.length - 1);

  const go = (command: Command | undefined): void => {
    if (!command) return;
    overlay.value = 'none';
    command.go();
    if (overlay.peek() === 'none' && !isCovered(playground) && !playground.tour.isShown.peek()) focusRequests.value++;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
    if (step !== undefined) at.value = stepFrom(chosen, step, found.length);
    else if (event.key === 'Enter' && !event.isComposing) {
      if (isCurrent) go(found[chosen]);
      else isWaiting.current = true;
    } else return;
    event.preventDefault();
  };
  return (
    <Dialog class='switcher' label='Command palette' testId='switcher' onClose={() => (overlay.value = 'none')}>
      <SearchField
        query={query.value}
        chosen={found[chosen] && `go-${found[chosen].id}`}
        onInput={(text) => {
          query.value = text;
          at.value = 0;
          isWaiting.current = false;
        }}
        onKeyDown={onKeyDown}
      />
      <Commands found={found} chosen={chosen} onPoint={(i) => (at.value = i)} onGo={go} />
      {found.length === 0 && <p class='switcher-empty' role='status'>{isCurrent ? 'No results' : 'Searching…'}</p>}
    </Dialog>
  );
}

interface SearchFieldProps {
  readonly query: string;
  /** The id of the chosen row. */
  readonly chosen: string | undefined;
  readonly onInput: (text: string) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

function SearchField({ query, chosen, onInput, onKeyDown }: SearchFieldProps): JSX.Element {
  return (
    <div class='switcher-field'>
      <Icon name='search' />
      <input
        type='text'
        role='combobox'
        aria-label='Search chats, files, agents and actions'
        aria-expanded='true'
        aria-controls='destinations'
        aria-activedescendant={chosen}
        placeholder='Search chats, files, agents and actions'
        autocomplete='off'
        data-testid='switcher-query'
        value={query}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
    </div>
  );
}

/** With nothing written, recent chats come first; tools and guides wait to be looked for. */
function startOf(all: readonly Command[]): readonly Command[] {
  const groups = Map.groupBy(all, groupOf);
  const recent = groups.get('Recent chats')?.slice(0, mostRecent) ?? [];
  for (const group of ['Recent chats', 'Tools', 'Guide']) groups.delete(group);
  return [...recent, ...[...groups.values()].flat()];
}

/** Groups stay together, by their best; chats and files come before their runs, which have the same titles. */
function orderOf(found: readonly Command[]): readonly Command[] {
  const groups = Map.groupBy(found, groupOf);
  const [best] = groups.keys();
  const order = new Set([...(best === 'Runs' ? [] : [best]), 'Chats', 'Files', ...groups.keys()]);
  return [...order].flatMap((group) => groups.get(group ?? '')?.slice(0, mostInGroup) ?? []);
}

const mostInGroup = 8;
const mostRecent = 5;

function groupOf({ group, hint }: Command): string {
  return group ?? hint;
}

/** One step goes round at the ends, a page stops there. */
function stepFrom(at: number, step: number, length: number): number {
  if (Math.abs(step) > 1) return Math.max(0, Math.min(length - 1, at + step));
  return (at + step + length) % Math.max(1, length);
}

interface CommandsProps {
  readonly found: readonly Command[];
  readonly chosen: number;
  readonly onPoint: (index: number) => void;
  readonly onGo: (command: Command) => void;
}

function Commands({ found, chosen, onPoint, onGo }: CommandsProps): JSX.Element {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' }), [chosen]);
  return (
    <ul id='destinations' role='listbox' aria-label='Commands' ref={list}>
      {found.map((command, i) => (
        <Fragment key={command.id}>
          {(i === 0 || groupOf(found[i - 1]!) !== groupOf(command)) && (
            <li role='presentation' class='switcher-group'>{groupOf(command)}</li>
          )}
          <li
            id={`go-${command.id}`}
            role='option'
            aria-selected={i === chosen}
            data-testid='destination'
            onMouseMove={() => onPoint(i)}
            onClick={() => onGo(command)}
          >
            <Icon name={command.icon} />
            <span>
              {command.title}
              {command.excerpt && (
                <small>
                  <MarkedText {...command.excerpt} />
                </small>
              )}
            </span>
            {groupOf(command) !== command.hint && <span class='hint'>{command.hint}</span>}
            {command.keys !== undefined && <kbd>{command.keys}</kbd>}
          </li>
        </Fragment>
      ))}
    </ul>
  );
}
