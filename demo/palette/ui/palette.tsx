import { useSignal } from '@preact/signals';
import { Fragment, type JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { fit, fitKeywords } from '../state/fuzzy.ts';
import type { Playground } from '../../app/state/playground.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { Icon } from '../../kit/icon.tsx';
import { isCovered } from '../../app/state/screens.ts';
import { MarkedText } from '../../knowledge/ui/marked-text.tsx';
import { commandsOf } from './commands.ts';
import { hitCommands } from './commands/chats.ts';
import { fileCommands, runCommands } from './commands/found.ts';
import type { Command } from './commands/command.ts';

/** Finds whatever can be done on the page by a few letters, and does it. */
export function Palette({ playground }: { playground: Playground }): JSX.Element {
  const { overlay, focusRequests } = playground;
  const query = useSignal('');
  const at = useSignal(0);
  const hits = useSignal<readonly Command[]>([]);
  const runs = useSignal<readonly Command[]>([]);
  useEffect(() => searchAsWritten(query.value, playground, (found) => (hits.value = found)), [query.value]);
  useEffect(() => void loadRuns(playground).then((found) => (runs.value = found)), []);
  const found = grouped([...find([...commandsOf(playground), ...runs.value], query.value), ...hits.value], query.value);
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
          aria-label='Search chats, files, agents and actions'
          aria-expanded='true'
          aria-controls='destinations'
          aria-activedescendant={found[chosen] && `go-${found[chosen].id}`}
          placeholder='Search chats, files, agents and actions'
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

/** Searches chats and files. Returns a function that stops it. */
function searchAsWritten(
  query: string,
  playground: Playground,
  onFound: (hits: readonly Command[]) => void,
): () => void {
  const abort = new AbortController();
  const { signal } = abort;
  if (query.trim().length < fewestLetters) {
    onFound([]);
    return () => undefined;
  }
  const search = async (): Promise<void> => {
    const { chatStore, knowledge } = playground;
    const inChats = chatStore.search(query, { signal }).then((hits) => hitCommands(playground, hits));
    const inFiles = knowledge.connect().search({ text: query, files: [], limit: mostPassages }).then(
      (answer) => answer.ok ? fileCommands(playground, answer.value.parts) : [],
      () => [],
    );
    const chats = await inChats;
    if (!signal.aborted) onFound(chats); // files may take longer: their index is read first
    const files = await inFiles;
    if (!signal.aborted && files.length > 0) onFound([...chats, ...files]);
  };
  const timer = setTimeout(() => void search(), pauseMs);
  return () => {
    clearTimeout(timer);
    abort.abort();
  };
}

const mostPassages = 4;
const mostRuns = 50;

async function loadRuns(playground: Playground): Promise<readonly Command[]> {
  try {
    const { runs } = await playground.runs.connect().list();
    return runCommands(playground, runs.slice(0, mostRuns));
  } catch {
    return []; // the rest of the palette does without
  }
}

/** With nothing written, recent chats come first, and runs and guides wait to be looked for. Groups stay together, by their best. */
function grouped(found: readonly Command[], query: string): readonly Command[] {
  const isEmpty = query.trim() === '';
  const groups = Map.groupBy(found, groupOf);
  const recent = groups.get('Recent chats');
  if (!isEmpty) {
    // What the search of texts has found says more.
    const hits = new Set(found.flatMap(({ id }) => id.startsWith('hit-') ? [id.replace('hit-', 'chat-')] : []));
    if (recent) groups.set('Recent chats', recent.filter(({ id }) => !hits.has(id)));
    const [best] = groups.keys();
    // A chat is wanted more often than its run, which has the same title.
    const order = new Set([...(best === 'Runs' ? [] : [best]), 'Chats', 'Files', ...groups.keys()]);
    return [...order].flatMap((group) => groups.get(group ?? '')?.slice(0, mostInGroup) ?? []);
  }
  for (const group of ['Recent chats', 'Runs', 'Tools', 'Guide']) groups.delete(group);
  return [...recent?.slice(0, mostRecent) ?? [], ...[...groups.values()].flat()];
}

const mostInGroup = 8;
const mostRecent = 5;

function groupOf({ group, hint }: Command): string {
  return group ?? hint;
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
