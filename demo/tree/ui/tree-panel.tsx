import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Playground } from '../../app/state/playground.ts';
import type { TreePanel as Panel } from '../state/tree-panel.ts';
import { formatCount } from '../../kit/format.ts';
import { Icon } from '../../kit/icon.tsx';
import { isCovering, takeFocus } from '../../kit/panel-cover.ts';
import { nameOfWho, panelOf } from './panel-of.ts';
import { TreeList } from './tree-list.tsx';
import { TreeSearch } from './tree-search.tsx';
import { TreeTools } from './tree-tools.tsx';
import { PanelProblem } from '../../kit/panel-problem.tsx';

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
      <button
        type='button'
        class='icon-button'
        data-testid='tree-follow'
        aria-pressed={isFollowing}
        aria-label='Follow agents in the tree'
        title={isFollowing ? 'Following agents' : 'Not following agents'}
        onClick={() => (panel.isFollowing.value = !isFollowing)}
      >
        <Icon name='eye' />
      </button>
      <button type='button' class='icon-button' data-testid='tree-close' aria-label='Close the tree' onClick={onClose}>
        <Icon name='cross' />
      </button>
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
        <button
          type='button'
          class='button'
          data-testid='tree-undo'
          aria-keyshortcuts='Control+Z'
          title={undoable ? `Undo: ${nameOf(undoable.by)} ${undoable.text}` : 'Nothing to undo'}
          disabled={!undoable}
          onClick={() => void panel.undo()}
        >
          <Icon name='undo' />
          Undo
        </button>
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
    <button
      type='button'
      class='quiet-button'
      data-testid='tree-million'
      onClick={() => void (isLarge ? panel.goBack() : panel.grow())}
    >
      {isLarge ? 'Back to the yard' : 'Try a million nodes'}
    </button>
  );
}
