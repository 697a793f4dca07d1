import type { JSX } from 'preact';
import type { KnowledgePanel, Progress } from '../state/knowledge-panel.ts';
import { AddButtons } from './add-buttons.tsx';
import { Icon } from '../../kit/icon.tsx';

/** What is being added and indexed, what came of it, and the way to more. */
export function KnowledgeFoot({ panel }: { panel: KnowledgePanel }): JSX.Element | null {
  const { adding, indexing, note, files } = panel;
  const isEmpty = files.value?.length === 0;
  return (
    <footer class='know-foot'>
      {adding.value && <Bar label='Adding files' progress={adding.value} testId='knowledge-adding' />}
      {indexing.value && <Bar label='Indexing' progress={indexing.value} testId='knowledge-indexing' />}
      {note.value !== undefined && (
        <p class='know-said' data-testid='knowledge-note'>
          <span>{note.value}</span>
          <button type='button' class='icon-button' aria-label='Dismiss' onClick={() => (note.value = undefined)}>
            <Icon name='cross' />
          </button>
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
