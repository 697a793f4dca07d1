import { useSignal, useSignalEffect } from '@preact/signals';
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { OverScreen } from '../../app/frame/over-screen.tsx';
import { followInside } from '../../app/state/inside.ts';
import type { Playground } from '../../app/state/playground.ts';
import { uncover } from '../../app/state/screens.ts';
import { formatCount } from '../../kit/format.ts';
import { oncePer } from '../../kit/hooks/once-per.ts';
import { Icon } from '../../kit/icon.tsx';
import { isCovering, takeFocus } from '../../kit/panel-cover.ts';
import { PanelProblem } from '../../kit/panel-problem.tsx';
import { uploadsOf } from '../state/dropped-files.ts';
import { createKnowledgePanel, type KnowledgePanel as Panel, type Progress } from '../state/knowledge-panel.ts';
import type { KnowledgeSearch } from '../state/knowledge-search.ts';
import { AddButtons } from './add-buttons.tsx';
import { FileList } from './file-list.tsx';
import { KnowledgeResults } from './knowledge-results.tsx';
import { Reader } from './reader.tsx';
import { IconButton } from '../../kit/button.tsx';

/** The files beside the chat, to follow a citation. */
export function KnowledgePanel({ playground }: { playground: Playground }): JSX.Element {
  const panel = panelOf(playground);
  const section = useRef<HTMLElement>(null);
  const close = (): void => void (playground.knowledge.isShown.value = false);
  useLayoutEffect(() => takeFocus(section.current, 'knowledge'), []);
  return (
    <section
      ref={section}
      class='side-panel'
      aria-label='Files'
      data-testid='knowledge-panel'
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return;
        if (panel.reading.open.value) panel.reading.close();
        else if (isCovering()) close();
        else return;
        event.preventDefault();
      }}
    >
      <header class='panel-head'>
        <h2>Files</h2>
        <Count panel={panel} />
        <IconButton icon='cross' label='Close files' testId='knowledge-close' onClick={close} />
      </header>
      <Files panel={panel} playground={playground} />
    </section>
  );
}

/** The files as a page of their own: the list, and beside it the file that is read. */
export function FilesScreen({ playground }: { playground: Playground }): JSX.Element {
  const { reading } = panelOf(playground);
  const open = reading.open.value;
  return (
    <OverScreen
      playground={playground}
      name='files'
      label='Files'
      back={open ? 'Back to the files' : 'Back to the chat'}
      onBack={() => open ? reading.close() : uncover(playground)}
      problem={undefined}
      beside={<Count panel={panelOf(playground)} />}
    >
      <Files panel={panelOf(playground)} playground={playground} />
    </OverScreen>
  );
}

function Count({ panel: { files } }: { panel: Panel }): JSX.Element | null {
  if (!files.value?.length) return null;
  return <p class='know-count' data-testid='knowledge-status'>{formatCount(files.value.length, 'file')}</p>;
}

/** The files of the agent's worker: they are added, searched and read. */
function Files({ panel, playground }: { panel: Panel; playground: Playground }): JSX.Element {
  const section = useRef<HTMLDivElement>(null);
  const isDraggedOver = useSignal(false);
  const open = panel.reading.open.value;
  const opener = useRef<Element | null>(null);
  if (open && !opener.current) opener.current = document.activeElement;
  useLayoutEffect(() => {
    if (open || !opener.current) return;
    giveBackFocus(section.current, opener.current);
    opener.current = null;
  }, [open]);
  useSignalEffect(() => {
    const place = playground.knowledge.wanted.value;
    if (!place) return;
    playground.knowledge.wanted.value = undefined;
    void panel.reading.read(place.file, { ...place, ranges: [] });
  });
  return (
    <div
      ref={section}
      class='know'
      data-testid='knowledge'
      data-dropping={isDraggedOver.value}
      data-reading={open !== undefined}
      onDragOver={(event) => {
        if (!event.dataTransfer?.types.includes('Files')) return;
        event.preventDefault();
        isDraggedOver.value = true;
      }}
      onDragLeave={(event) => {
        if (!isWithin(event)) isDraggedOver.value = false;
      }}
      onDrop={(event) => {
        isDraggedOver.value = false;
        if (!event.dataTransfer?.types.includes('Files')) return;
        event.preventDefault();
        void uploadsOf(event.dataTransfer).then((uploads) => panel.add(uploads));
      }}
    >
      <Overview panel={panel} />
      {open && (
        <div class='know-open'>
          <Reader panel={panel} open={open} />
        </div>
      )}
      {isDraggedOver.value && (
        <div class='know-drop' aria-hidden='true'>
          <Icon name='paste' />
          <p>Drop files, folders or ZIP archives to add them</p>
        </div>
      )}
    </div>
  );
}

/** The files, or what was found; it stays as it is while a file is read. */
function Overview({ panel }: { panel: Panel }): JSX.Element {
  const isSearching = panel.search.text.value.trim() !== '';
  return (
    <div class='know-overview'>
      <PanelProblem
        problem={panel.problem}
        testId='knowledge-problem'
        otherwise={panel.isStored.value
          ? undefined
          : 'The browser provides no storage: files you add are lost when the page closes.'}
      />
      <KnowledgeSearchField search={panel.search} />
      {isSearching ? <KnowledgeResults panel={panel} /> : <FileList panel={panel} />}
      <KnowledgeFoot panel={panel} />
    </div>
  );
}

/** Moves the focus from the closed reader to its opener, or into the panel. */
function giveBackFocus(section: HTMLElement | null, opener: Element): void {
  const focused = document.activeElement;
  if (focused !== document.body && !section?.contains(focused)) return;
  const next = opener.isConnected && opener !== document.body ? opener : section?.querySelector('input');
  if (next instanceof HTMLElement) next.focus({ preventScroll: true });
}

const panelOf = oncePer((playground: Playground): Panel => {
  const panel = createKnowledgePanel({
    control: playground.knowledge.connect(),
    announce: (text) => void (playground.announcement.value = text),
  });
  void panel.open();
  const { reading } = panel;
  followInside({
    at: playground.knowledge.at,
    read: () => reading.open.value ? [reading.open.value.name] : [],
    go: async ([file]) => file === undefined ? reading.close() : await reading.read(file),
  });
  return panel;
});

/** Whether the pointer is still over the panel. */
function isWithin({ currentTarget, relatedTarget }: DragEvent): boolean {
  return currentTarget instanceof Element && relatedTarget instanceof Node && currentTarget.contains(relatedTarget);
}

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
        {text !== '' && <IconButton icon='cross' label='Clear search' onClick={() => search.type('')} />}
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

/** What is being added and indexed, what came of it, and the way to more. */
export function KnowledgeFoot({ panel }: { panel: Panel }): JSX.Element | null {
  const { adding, indexing, note, files } = panel;
  const isEmpty = files.value?.length === 0;
  return (
    <footer class='know-foot'>
      {adding.value && <Bar label='Adding files' progress={adding.value} testId='knowledge-adding' />}
      {indexing.value && <Bar label='Indexing' progress={indexing.value} testId='knowledge-indexing' />}
      {note.value !== undefined && (
        <p class='know-said' data-testid='knowledge-note'>
          <span>{note.value}</span>
          <IconButton icon='cross' label='Dismiss' onClick={() => (note.value = undefined)} />
        </p>
      )}
      {!isEmpty && <AddButtons panel={panel} />}
    </footer>
  );
}

function Bar(
  { label, progress: { done, total, name }, testId }: {
    readonly label: string;
    readonly progress: Progress;
    readonly testId: string;
  },
): JSX.Element {
  return (
    <label class='know-bar' data-testid={testId}>
      <span>
        {label} {Math.min(total, done + 1).toLocaleString('en')} of {total.toLocaleString('en')}
        {name !== undefined && `: ${name}`}
      </span>
      <progress value={done} max={total} />
    </label>
  );
}
