import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { KnowledgeFile } from '../../control/knowledge-control.ts';
import type { KnowledgePanel } from '../state/knowledge-panel.ts';
import { Confirm } from '../../kit/confirm.tsx';
import { formatBytes, formatCount } from '../../kit/format.ts';
import { Icon, type IconName } from '../../kit/icon.tsx';

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
export function FileRow({ file, panel, position, count, top }: FileRowProps): JSX.Element {
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
  return (
    <button
      type='button'
      class='icon-button'
      data-testid={`knowledge-${testId}`}
      aria-label={label}
      title={label}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
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
