import { type Signal, useComputed, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { KnowledgeFile } from '../../control/knowledge-control.ts';
import { Confirm } from '../../kit/confirm.tsx';
import { formatBytes, formatCount } from '../../kit/format.ts';
import { GuideLink } from '../../kit/guide-link.tsx';
import { useRows } from '../../kit/hooks/use-rows.tsx';
import { Icon, type IconName } from '../../kit/icon.tsx';
import type { KnowledgePanel } from '../state/knowledge-panel.ts';
import { AddButtons } from './add-buttons.tsx';
import { Button, IconButton } from '../../kit/button.tsx';

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
        <Button
          kind='quiet'
          testId='knowledge-remove-failed'
          onClick={() => void panel.remove(failed.map(({ name }) => name))}
        >
          Remove them
        </Button>
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

interface FileRowProps {
  readonly file: KnowledgeFile;
  readonly panel: KnowledgePanel;
  /** From 1. */
  readonly position: number;
  readonly count: number;
  /** Its position in the list, in pixels. */
  readonly top: number;
}

/** One file: what it is, how far it is, and what can be done with it. */
function FileRow({ file, panel, position, count, top }: FileRowProps): JSX.Element {
  const { name, kind, state, done, total, error } = file;
  const isConfirming = useSignal(false);
  const [folder, base] = splitName(name);
  return (
    <li
      class='know-file'
      data-testid='knowledge-file'
      data-name={name}
      data-state={state}
      aria-setsize={count}
      aria-posinset={position}
      style={{ transform: `translateY(${top}px)` }}
    >
      <button
        type='button'
        class='know-file-open'
        data-testid='knowledge-read'
        disabled={done === 0 && kind === 'document'}
        title={error ? `${name}: ${error.message}` : name}
        onClick={() => void panel.reading.read(name)}
      >
        <span class='know-file-state'>{iconOf(file)}</span>
        <span class='know-file-name'>
          {folder !== '' && <span class='know-folder'>{folder}</span>}
          {base}
        </span>
        <span class='know-file-meta'>{metaOf(file)}</span>
      </button>
      {isConfirming.value
        ? (
          <span class='know-file-actions is-asking'>
            <Confirm
              label='Remove'
              testId='knowledge-remove-yes'
              onConfirm={() => void panel.remove([name])}
              onCancel={() => (isConfirming.value = false)}
            />
          </span>
        )
        : (
          <Actions
            file={file}
            panel={panel}
            onRemove={() => state === 'failed' ? void panel.remove([name]) : (isConfirming.value = true)}
          />
        )}
      {state === 'indexing' && <progress value={done} max={Math.max(1, total)} aria-label={`Indexing ${base}`} />}
    </li>
  );
}

interface ActionsProps extends Pick<FileRowProps, 'file' | 'panel'> {
  readonly onRemove: () => void;
}

function Actions({ file: { name, kind, state }, panel, onRemove }: ActionsProps): JSX.Element {
  const [, base] = splitName(name);
  const isWorking = state === 'indexing' || state === 'waiting';
  const searchHere = (): void => {
    panel.search.searchIn([name]);
    document.querySelector<HTMLElement>('[data-testid=knowledge-search]')?.focus();
  };
  return (
    <span class='know-file-actions'>
      {isWorking && kind === 'document' && (
        <Action
          icon='pause'
          testId='stop'
          label={`Stop ${base}`}
          onClick={() => void panel.stop(name)}
        />
      )}
      {state === 'stopped' && (
        <Action
          icon='play'
          testId='resume'
          label={`Resume ${base}`}
          onClick={() => void panel.resume(name)}
        />
      )}
      {state === 'ready' && kind !== 'picture' && (
        <Action icon='search' testId='scope-to' label={`Search only in ${base}`} onClick={searchHere} />
      )}
      <Action icon='trash' testId='remove' label={`Remove ${base}`} onClick={onRemove} />
    </span>
  );
}

interface ActionProps {
  readonly icon: IconName;
  readonly testId: string;
  readonly label: string;
  readonly onClick: () => void;
}

function Action({ icon, testId, label, onClick }: ActionProps): JSX.Element {
  return <IconButton icon={icon} label={label} testId={`knowledge-${testId}`} onClick={onClick} />;
}

function iconOf({ state, kind }: KnowledgeFile): JSX.Element {
  if (state === 'indexing') return <span class='spinner' />;
  if (state === 'waiting') return <Icon name='wait' />;
  if (state === 'failed') return <Icon name='warning' />;
  if (state === 'stopped') return <Icon name='pause' />;
  return <Icon name={kind === 'code' ? 'code' : kind === 'picture' ? 'eye' : 'file'} />;
}

function metaOf(
  { state, kind, size, done, total, addedAt, error, read, skipped = [] }: KnowledgeFile,
): string {
  switch (state) {
    case 'waiting':
      return `${formatBytes(size)} · waiting`;
    case 'indexing':
      return total === 0 || kind === 'code'
        ? 'Reading'
        : `${done.toLocaleString('en')} of ${formatCount(total, 'passage')}`;
    case 'stopped':
      return `Stopped at ${done.toLocaleString('en')} of ${formatCount(total, 'passage')}`;
    case 'failed':
      return error?.message ?? 'Could not be read';
    case 'ready':
      return [
        formatBytes(size),
        ...(read === undefined ? kind === 'code' ? [formatCount(total, 'line')] : [] : [read]),
        ...(kind !== 'picture' && skipped.length > 0 ? ['not all of it read'] : []),
        dateOf(addedAt),
      ].join(' · ');
    default:
      return state satisfies never;
  }
}

/** `14:05` today, else `21 Nov`. */
function dateOf(time: number): string {
  const date = new Date(time);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday
    ? `added ${date.toLocaleTimeString('en', { timeStyle: 'short' })}`
    : `added ${date.toLocaleDateString('en', { day: 'numeric', month: 'short' })}`;
}

function splitName(name: string): readonly [folder: string, base: string] {
  const at = name.lastIndexOf('/') + 1;
  return [name.slice(0, at), name.slice(at)];
}
