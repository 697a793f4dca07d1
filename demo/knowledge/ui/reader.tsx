import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { FilePart, KnowledgeFile } from '../../control/knowledge-control.ts';
import type { OpenFile, ReadingPlace } from '../state/knowledge-reading.ts';
import { flowingText } from '../state/flowing-text.ts';
import type { KnowledgePanel } from '../state/knowledge-panel.ts';
import { formatBytes, formatCount, formatLines } from '../../kit/format.ts';
import { MarkedText } from './marked-text.tsx';
import { Button, IconButton } from '../../kit/button.tsx';

/** How near the end more is fetched, in pixels. */
const near = 400;

export function Reader({ panel, open }: { panel: KnowledgePanel; open: OpenFile }): JSX.Element {
  const { name, file, parts, total, place, problem, picture } = open;
  const scroller = useRef<HTMLDivElement>(null);
  const isRead = parts.length > 0;
  useLayoutEffect(() => showPlace(scroller.current), [name, place, isRead]);
  const isCode = file?.kind === 'code';
  return (
    <>
      <Head panel={panel} open={open} />
      <div
        ref={scroller}
        class='know-scroll know-reader'
        tabIndex={0}
        role='region'
        aria-label={name}
        aria-busy={!isRead && problem === undefined && file === undefined}
        data-testid='knowledge-reader'
        onScroll={({ currentTarget }) => {
          const { scrollTop, scrollHeight, clientHeight } = currentTarget;
          if (scrollHeight - clientHeight - scrollTop < near) void panel.reading.more(1);
          else if (scrollTop < near) void panel.reading.more(-1);
        }}
      >
        {problem !== undefined && <p class='know-note is-warning' role='alert'>{problem}</p>}
        {file && <NotRead file={file} />}
        {picture !== undefined && <img class='know-picture' src={picture} alt={name} />}
        {isRead && parts[0]!.piece > 0 && (
          <Edge
            testId='knowledge-earlier'
            label='Earlier passages'
            onClick={() => void panel.reading.more(-1)}
          />
        )}
        {parts.map((part) => (
          <Part
            key={part.piece}
            part={part}
            isCode={isCode}
            place={part.piece === place?.piece ? place : undefined}
            marked={place?.lines}
          />
        ))}
        {isRead && parts.at(-1)!.piece < total - 1 && (
          <Edge
            testId='knowledge-later'
            label='Later passages'
            onClick={() => void panel.reading.more(1)}
          />
        )}
      </div>
    </>
  );
}

function Head({ panel, open: { name, file } }: { panel: KnowledgePanel; open: OpenFile }): JSX.Element {
  return (
    <div class='know-reader-head'>
      <IconButton icon='arrow' label='Back to the files' class='is-back' onClick={() => panel.reading.close()} />
      <div>
        <h2 data-testid='knowledge-reader-name'>{name}</h2>
        <p>{file ? [formatBytes(file.size), readOf(file)].join(' · ') : 'Opening…'}</p>
      </div>
      <IconButton
        icon='search'
        label='Search only in this file'
        onClick={() => {
          panel.search.searchIn([name]);
          panel.reading.close();
        }}
      />
    </div>
  );
}

function readOf({ read, kind, total }: KnowledgeFile): string {
  if (kind === 'picture') return 'picture';
  return `${read ?? formatCount(total, kind === 'code' ? 'line' : 'passage')} read`;
}

/** What was not read, and why. */
function NotRead({ file: { skipped = [] } }: { file: KnowledgeFile }): JSX.Element | null {
  if (skipped.length === 0) return null;
  return (
    <details class='know-skipped' open={skipped.length <= 3}>
      <summary>Not read</summary>
      <ul>
        {skipped.map((what) => <li key={what}>{what}</li>)}
      </ul>
    </details>
  );
}

function Edge(
  { testId, label, onClick }: { readonly testId: string; readonly label: string; readonly onClick: () => void },
): JSX.Element {
  return <Button kind='quiet' class='know-edge' testId={testId} onClick={onClick}>{label}</Button>;
}

interface PartProps {
  readonly part: FilePart;
  readonly isCode: boolean;
  readonly place: ReadingPlace | undefined;
  /** Lines of code, which may go on in the next part. */
  readonly marked: ReadingPlace['lines'];
}

function Part({ part: { piece, text, title, lines }, isCode, place, marked }: PartProps): JSX.Element {
  return (
    <section
      class={isCode ? 'know-part is-code' : 'know-part'}
      data-testid='knowledge-part'
      data-piece={piece}
      data-place={place !== undefined}
      tabIndex={place ? -1 : undefined}
      aria-label={`Passage ${piece + 1}${place ? ', cited or found here' : ''}`}
    >
      <p class='know-part-head'>
        <span>{title ?? `Passage ${piece + 1}`}</span>
        {lines && <span>{formatLines(lines)}</span>}
      </p>
      {isCode ? <Code text={text} first={lines?.[0] ?? 1} marked={marked} /> : (
        <p class='know-text'>
          <MarkedText text={flowingText(text)} ranges={place?.ranges ?? []} />
        </p>
      )}
    </section>
  );
}

function Code(
  { text, first, marked }: {
    readonly text: string;
    readonly first: number;
    readonly marked: readonly [number, number] | undefined;
  },
): JSX.Element {
  return (
    <pre class='know-code'>
      {text.split('\n').map((line, at) => {
        const number = first + at;
        const isMarked = marked !== undefined && number >= marked[0] && number <= marked[1];
        return <span key={number} class='know-line' data-line={number} data-marked={isMarked}>{line}{'\n'}</span>;
      })}
    </pre>
  );
}

/** Brings the place into sight, and the focus to it. */
function showPlace(scroller: HTMLElement | null): void {
  const part = scroller?.querySelector<HTMLElement>('[data-place=true]');
  if (!part) return;
  part.focus({ preventScroll: true });
  const mark = part.querySelector<HTMLElement>('mark, [data-marked=true]') ?? part;
  mark.scrollIntoView?.({
    block: mark === part && part.clientHeight > (scroller?.clientHeight ?? 0) ? 'start' : 'center',
  });
}
