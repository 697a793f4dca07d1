import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { KnowledgeFile } from '../worker/control.ts';
import type { KnowledgePanel } from '../state/knowledge-panel.ts';
import { AddButtons } from './add-buttons.tsx';
import { FileRow } from './file-row.tsx';
import { GuideLink } from '../../kit/guide-link.tsx';
import { watchHeight } from '../../kit/hooks/watch-height.ts';

/** Rows drawn beyond what is in sight, on either side. */
const overscan = 4;

/** The files, of however many there are those in sight. */
export function FileList({ panel }: { panel: KnowledgePanel }): JSX.Element {
  const files = panel.files.value;
  if (!files) return <div class='know-scroll' aria-busy='true'>{panel.problem.value === undefined && <Loading />}</div>;
  return files.length === 0 ? <Empty panel={panel} /> : <Files panel={panel} files={files} />;
}

function Files({ panel, files: all }: { panel: KnowledgePanel; files: readonly KnowledgeFile[] }): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const scrollTop = useSignal(0);
  const height = useSignal(0);
  const onlyFailed = useSignal(false);
  const rowHeight = useMemo(rowHeightHere, []);
  useLayoutEffect(() => watchHeight(scroller.current, (now) => (height.value = now)), []);
  const failed = all.filter(({ state }) => state === 'failed');
  const files = onlyFailed.value && failed.length > 0 ? failed : all;
  const from = Math.max(0, Math.floor(scrollTop.value / rowHeight) - overscan);
  const to = Math.min(files.length, Math.ceil((scrollTop.value + height.value) / rowHeight) + overscan);
  return (
    <>
      {failed.length > 0 && (
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
      )}
      <div
        ref={scroller}
        class='know-scroll'
        data-testid='knowledge-files'
        style={{ '--row-height': `${rowHeight}px` }}
        onScroll={({ currentTarget }) => (scrollTop.value = currentTarget.scrollTop)}
        onKeyDown={(event) => stepBetweenRows(event) && event.preventDefault()}
      >
        <ul class='know-files' aria-label='Files' style={{ height: `${files.length * rowHeight}px` }}>
          {files.slice(from, to).map((file, at) => (
            <FileRow
              key={file.name}
              file={file}
              panel={panel}
              position={from + at + 1}
              count={files.length}
              top={(from + at) * rowHeight}
            />
          ))}
        </ul>
      </div>
    </>
  );
}

function Loading(): JSX.Element {
  return (
    <p class='know-note'>
      <span class='spinner' /> Opening the knowledge…
    </p>
  );
}

function Empty({ panel }: { panel: KnowledgePanel }): JSX.Element {
  return (
    <div class='know-scroll know-empty' data-testid='knowledge-empty'>
      <h3>Add files for your agents to read</h3>
      <p>
        Drop files here, or choose them: text, Markdown, HTML, JSON, CSV, code, ZIP archives. They stay in this browser;
        only what an agent finds in them goes to its model. <GuideLink page='grounding'>How answers cite</GuideLink>
      </p>
      <AddButtons panel={panel} />
      <p>
        Nothing at hand?{' '}
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

/** Fingers want more room. */
function rowHeightHere(): number {
  return matchMedia('(pointer: coarse)').matches ? 64 : 54;
}
