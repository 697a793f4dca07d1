import { type Signal, useComputed, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { KnowledgeFile } from '../../control/knowledge-control.ts';
import type { KnowledgePanel } from '../state/knowledge-panel.ts';
import { AddButtons } from './add-buttons.tsx';
import { FileRow } from './file-row.tsx';
import { GuideLink } from '../../kit/guide-link.tsx';
import { useRows } from '../../kit/hooks/use-rows.tsx';

const rowHeight = { fine: 54, coarse: 64 };

/** The files. Only the visible rows are drawn. */
export function FileList({ panel }: { panel: KnowledgePanel }): JSX.Element {
  const files = panel.files.value;
  if (!files) return <div class='know-scroll' aria-busy='true'>{panel.problem.value === undefined && <Loading />}</div>;
  return files.length === 0 ? <Empty panel={panel} /> : <Files panel={panel} />;
}

function Files({ panel }: { panel: KnowledgePanel }): JSX.Element {
  const onlyFailed = useSignal(false);
  const failed = useComputed(() => (panel.files.value ?? []).filter(({ state }) => state === 'failed'));
  const shown = useComputed(() => onlyFailed.value && failed.value.length > 0 ? failed.value : panel.files.value ?? []);
  const rows = useRows(useComputed(() => shown.value.length), { rowHeight, overscan: 4 });
  const { from, to } = rows.drawn.value;
  const files = shown.value;
  return (
    <>
      {failed.value.length > 0 && <Failed panel={panel} failed={failed.value} onlyFailed={onlyFailed} />}
      <div
        {...rows.scroller}
        class='know-scroll'
        data-testid='knowledge-files'
        onKeyDown={(event) => stepBetweenRows(event) && event.preventDefault()}
      >
        <ul class='know-files' aria-label='Files' style={{ height: `${rows.height.value}px` }}>
          {files.slice(from, to).map((file, at) => (
            <FileRow
              key={file.name}
              file={file}
              panel={panel}
              position={from + at + 1}
              count={files.length}
              top={rows.top.value + at * rows.rowHeight}
            />
          ))}
        </ul>
      </div>
    </>
  );
}

interface FailedProps {
  readonly panel: KnowledgePanel;
  readonly failed: readonly KnowledgeFile[];
  readonly onlyFailed: Signal<boolean>;
}

function Failed({ panel, failed, onlyFailed }: FailedProps): JSX.Element {
  return (
    <p class='know-failed'>
      <button
        type='button'
        class='chip'
        data-testid='knowledge-failed'
        aria-pressed={onlyFailed.value}
        onClick={() => (onlyFailed.value = !onlyFailed.value)}
      >
        {failed.length.toLocaleString('en')} could not be read
      </button>
      {onlyFailed.value && (
        <button
          type='button'
          class='quiet-button'
          data-testid='knowledge-remove-failed'
          onClick={() => void panel.remove(failed.map(({ name }) => name))}
        >
          Remove them
        </button>
      )}
    </p>
  );
}

function Loading(): JSX.Element {
  return (
    <p class='know-note'>
      <span class='spinner' /> Loading files…
    </p>
  );
}

function Empty({ panel }: { panel: KnowledgePanel }): JSX.Element {
  return (
    <div class='know-scroll know-empty' data-testid='knowledge-empty'>
      <h2>Add files for your agents to read</h2>
      <p>
        Drop files here, or choose them: PDF, Word, Excel, PowerPoint, text, tables, code, pictures, ZIP archives. They
        stay in this browser; only what an agent finds in them goes to its model.{' '}
        <GuideLink page='grounding'>How answers cite</GuideLink>
      </p>
      <AddButtons panel={panel} />
      <p>
        No files at hand?{' '}
        <button
          type='button'
          class='link-button'
          data-testid='knowledge-guide'
          onClick={() => void panel.addGuide()}
        >
          Add Pinnace’s own guide
        </button>
      </p>
    </div>
  );
}

/** The arrow keys go from one file to the next. */
function stepBetweenRows({ key, currentTarget, target }: KeyboardEvent): boolean {
  const step = { ArrowDown: 1, ArrowUp: -1 }[key];
  if (step === undefined || !(currentTarget instanceof Element) || !(target instanceof Element)) return false;
  const row = target.closest('li');
  const next = step > 0 ? row?.nextElementSibling : row?.previousElementSibling;
  next?.querySelector('button')?.focus();
  return next !== undefined && next !== null;
}
