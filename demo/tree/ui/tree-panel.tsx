import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Playground } from '../../app/state/playground.ts';
import type { FoundNode, FoundPage, PanelRow } from '../../control/tree-control.ts';
import { formatCount } from '../../kit/format.ts';
import { Icon, type IconName } from '../../kit/icon.tsx';
import { isCovering, takeFocus } from '../../kit/panel-cover.ts';
import { PanelProblem } from '../../kit/panel-problem.tsx';
import type { TreePanel as Panel } from '../state/tree-panel.ts';
import { add, moveBy, paste, rename } from './edits.ts';
import { nameOfWho, panelOf } from './panel-of.ts';
import { TreeList } from './tree-list.tsx';
import { Button, IconButton } from '../../kit/button.tsx';

/** The tree in the agent's worker, for people: beside the chat with those who work on it. */
export function TreePanel({ playground }: { playground: Playground }): JSX.Element {
  const panel = panelOf(playground);
  const nameOf = (by: string): string => nameOfWho(playground, by);
  const close = (): void => void (playground.tree.isShown.value = false);
  const section = useRef<HTMLElement>(null);
  useLayoutEffect(() => takeFocus(section.current, 'tree'), []);
  return (
    <section
      ref={section}
      class='side-panel'
      aria-label='Tree'
      data-testid='tree-panel'
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented || !isCovering()) return;
        event.preventDefault();
        close();
      }}
    >
      <Head panel={panel} onClose={close} />
      <TreeSearch panel={panel} />
      <TreeTools panel={panel} />
      <PanelProblem
        problem={panel.problem}
        testId='tree-problem'
        otherwise={panel.status.value?.kind === 'unstored'
          ? 'The browser provides no storage: your changes are lost when the page closes.'
          : undefined}
      />
      <TreeList panel={panel} nameOf={nameOf} />
      <Foot panel={panel} nameOf={nameOf} />
    </section>
  );
}

function Head({ panel, onClose }: { panel: Panel; onClose: () => void }): JSX.Element {
  const status = panel.status.value;
  const isFollowing = panel.isFollowing.value;
  return (
    <header class='panel-head'>
      <h2>The yard</h2>
      {status && (
        <p data-testid='tree-status'>
          {formatCount(status.size, 'node')}
          {status.rev > 0 && ` · ${formatCount(status.rev, 'change')}`}
        </p>
      )}
      <IconButton
        icon='eye'
        label='Follow agents in the tree'
        testId='tree-follow'
        aria-pressed={isFollowing}
        title={isFollowing ? 'Following agents' : 'Not following agents'}
        onClick={() => (panel.isFollowing.value = !isFollowing)}
      />
      <IconButton icon='cross' label='Close the tree' testId='tree-close' onClick={onClose} />
    </header>
  );
}

function Foot({ panel, nameOf }: { panel: Panel; nameOf: (by: string) => string }): JSX.Element {
  const latest = panel.latest.value;
  const undoable = panel.status.value?.undoable;
  const [nodeId] = latest?.nodeIds ?? [];
  return (
    <footer class='tree-foot'>
      <p class='tree-latest' data-testid='tree-latest'>
        {latest && (
          <button
            type='button'
            title='Show it'
            disabled={nodeId === undefined}
            onClick={() => nodeId !== undefined && void panel.show(nodeId)}
          >
            <strong>{nameOf(latest.by)}</strong> {latest.text}
          </button>
        )}
      </p>
      <div class='tree-foot-row'>
        <Button
          icon='undo'
          testId='tree-undo'
          aria-keyshortcuts='Control+Z'
          title={undoable ? `Undo: ${nameOf(undoable.by)} ${undoable.text}` : 'Nothing to undo'}
          disabled={!undoable}
          onClick={() => void panel.undo()}
        >
          Undo
        </Button>
        <Million panel={panel} />
      </div>
    </footer>
  );
}

function Million({ panel }: { panel: Panel }): JSX.Element {
  const growing = panel.growing.value;
  if (growing) {
    return (
      <label class='tree-growing' data-testid='tree-growing'>
        <span>{growing.done.toLocaleString('en')} nodes</span>
        <progress value={growing.done} max={growing.total} aria-label='Creating a million nodes' />
      </label>
    );
  }
  const isLarge = panel.status.value?.kind === 'large';
  return (
    <Button kind='quiet' testId='tree-million' onClick={() => void (isLarge ? panel.goBack() : panel.grow())}>
      {isLarge ? 'Back to the yard' : 'Try a million nodes'}
    </Button>
  );
}

/** Finds nodes by their names, wherever they are. */
export function TreeSearch({ panel }: { panel: Panel }): JSX.Element {
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

interface ToolButton {
  readonly id: string;
  readonly icon: IconName;
  readonly label: string;
  readonly keys?: string;
  /** Turned round, for a drawing that points the other way. */
  readonly isTurned?: boolean;
  readonly isOff: (row: PanelRow, panel: Panel) => boolean;
  readonly act: (panel: Panel, row: PanelRow) => void;
}

const isRoot = ({ parentId }: PanelRow): boolean => parentId === null;

const buttons: readonly ToolButton[] = [
  {
    id: 'add',
    icon: 'plus',
    label: 'Add below',
    keys: 'Insert',
    isOff: () => false,
    act: (panel, row) => void add(panel, row),
  },
  { id: 'rename', icon: 'rename', label: 'Rename', keys: 'F2', isOff: () => false, act: rename },
  {
    id: 'up',
    icon: 'up',
    label: 'Move up',
    keys: 'Alt+ArrowUp',
    isOff: (row) => isRoot(row) || row.position === 0,
    act: (panel, row) => void moveBy(panel, row, -1),
  },
  {
    id: 'down',
    icon: 'up',
    label: 'Move down',
    keys: 'Alt+ArrowDown',
    isTurned: true,
    isOff: (row) => isRoot(row) || row.position === row.siblings - 1,
    act: (panel, row) => void moveBy(panel, row, 1),
  },
  {
    id: 'cut',
    icon: 'cut',
    label: 'Cut',
    keys: 'Control+X',
    isOff: isRoot,
    act: (panel, row) => void (panel.cut.value = row),
  },
  {
    id: 'paste',
    icon: 'paste',
    label: 'Paste inside this node',
    keys: 'Control+V',
    isOff: ({ nodeId }, { cut }) => cut.value === undefined || cut.value.nodeId === nodeId,
    act: (panel, row) => void paste(panel, row),
  },
  {
    id: 'remove',
    icon: 'trash',
    label: 'Remove',
    keys: 'Delete',
    isOff: isRoot,
    act: (panel, { nodeId }) => void panel.change('remove_node', { nodeId }),
  },
  {
    id: 'expand-all',
    icon: 'unfold',
    label: 'Expand everything below',
    isOff: ({ childrenCount }) => childrenCount === 0,
    act: (panel, row) => void panel.setAll(row, true),
  },
  {
    id: 'collapse-all',
    icon: 'fold',
    label: 'Collapse everything below',
    isOff: ({ childrenCount }) => childrenCount === 0,
    act: (panel, row) => void panel.setAll(row, false),
  },
];

export function TreeTools({ panel }: { panel: Panel }): JSX.Element {
  const row = panel.row(panel.active.value?.rank ?? -1);
  return (
    <div class='tree-tools' role='group' aria-label='Selected row'>
      {buttons.map(({ id, icon, label, keys, isTurned, isOff, act }) => (
        <IconButton
          icon={icon}
          label={label}
          testId={`tree-${id}`}
          key={id}
          data-turned={isTurned}
          aria-keyshortcuts={keys}
          title={keys === undefined ? label : `${label} (${keys.replace('Control', 'Ctrl').replace('Arrow', '')})`}
          disabled={!row || isOff(row, panel)}
          onClick={() => row && act(panel, row)}
        />
      ))}
    </div>
  );
}
