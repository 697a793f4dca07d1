import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { fit, fitKeywords } from '../state/fuzzy.ts';
import type { Playground } from '../../app/state/playground.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { Icon } from '../../kit/icon.tsx';
import { isCovered } from '../../app/state/screens.ts';
import type { ChatHit } from '../../chat/store/search-chats.ts';
import { commandsOf } from './commands.ts';
import { hitCommands } from './commands/chats.ts';
import type { Command } from './commands/command.ts';

/** Finds whatever can be done on the page by a few letters, and does it. */
export function Palette({ playground }: { playground: Playground }): JSX.Element {
  const { overlay, focusRequests } = playground;
  const query = useSignal('');
  const at = useSignal(0);
  const hits = useSignal<readonly ChatHit[]>([]);
  useEffect(() => searchAsWritten(query.value, playground, (found) => (hits.value = found)), [query.value]);
  const found = [...find(commandsOf(playground), query.value), ...hitCommands(playground, hits.value, query.value)];
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
    else if (event.key === 'Enter' && !event.isComposing) go(found[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog class='switcher' label='Command palette' testId='switcher' onClose={() => (overlay.value = 'none')}>
      <div class='switcher-field'>
        <Icon name='search' />
        <input
          type='text'
          role='combobox'
          aria-label='Find an action, a page, or text in your chats'
          aria-expanded='true'
          aria-controls='destinations'
          aria-activedescendant={found[chosen] && `go-${found[chosen].id}`}
          placeholder='Find an action, a page, or text in your chats'
          autocomplete='off'
          data-testid='switcher-query'
          value={query.value}
          onInput={({ currentTarget }) => {
            query.value = currentTarget.value;
            at.value = 0;
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <Commands found={found} chosen={chosen} onPoint={(i) => (at.value = i)} onGo={go} />
      {found.length === 0 && <p class='switcher-empty' role='status'>No results</p>}
    </Dialog>
  );
}

/** How long nothing is typed before the messages are searched. */
const pauseMs = 150;
/** Fewer letters are in most messages. */
const fewestLetters = 3;

/** Searches the messages of all chats. Returns a function that stops it. */
function searchAsWritten(
  query: string,
  { chatStore }: Playground,
  onFound: (hits: readonly ChatHit[]) => void,
): () => void {
  const abort = new AbortController();
  const { signal } = abort;
  if (query.trim().length < fewestLetters) {
    onFound([]);
    return () => undefined;
  }
  const timer = setTimeout(() => {
    void chatStore.search(query, { signal }).then((hits) => !signal.aborted && onFound(hits));
  }, pauseMs);
  return () => {
    clearTimeout(timer);
    abort.abort();
  };
}

/** The best first; what fits alike stays in its order. The title counts for more than the other words. */
function find(commands: readonly Command[], query: string): readonly Command[] {
  const scored = commands.map((command) => {
    const { title, hint, words = '' } = command;
    const inTitle = fit(title, query);
    return { command, score: inTitle > 0 ? inTitle + 1 : fitKeywords(`${title} ${hint} ${words}`, query) / 2 };
  });
  return scored.filter(({ score }) => score > 0).toSorted((a, b) => b.score - a.score).map(({ command }) => command);
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
  useEffect(() => list.current?.children[chosen]?.scrollIntoView({ block: 'nearest' }), [chosen]);
  return (
    <ul id='destinations' role='listbox' aria-label='Commands' ref={list}>
      {found.map((command, i) => (
        <li
          key={command.id}
          id={`go-${command.id}`}
          role='option'
          aria-selected={i === chosen}
          data-testid='destination'
          onMouseMove={() => onPoint(i)}
          onClick={() => onGo(command)}
        >
          <Icon name={command.icon} />
          <span>{command.title}</span>
          <span class='hint'>{command.hint}</span>
          {command.keys !== undefined && <kbd>{command.keys}</kbd>}
        </li>
      ))}
    </ul>
  );
}
