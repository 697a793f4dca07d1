import type { JSX } from 'preact';
import type { FoundPart, FoundParts } from '../../control/knowledge-control.ts';
import { flowingText } from '../state/flowing-text.ts';
import type { KnowledgePanel } from '../state/knowledge-panel.ts';
import { formatCount, formatLines } from '../../kit/format.ts';
import { Icon } from '../../kit/icon.tsx';
import { Confidence } from '../../kit/confidence.tsx';
import { MarkedText, snippetOf } from './marked-text.tsx';
import { Why } from './why.tsx';

/** What was found, the best first. */
export function KnowledgeResults({ panel }: { panel: KnowledgePanel }): JSX.Element {
  const { found, isSearching, problem } = panel.search;
  const result = found.value;
  return (
    <div class='know-scroll' data-testid='knowledge-results' aria-busy={isSearching.value}>
      <p class='know-note' role='status' data-testid='knowledge-found'>
        {problem.value ?? noteOf(result, panel)}
      </p>
      {result?.problems.map((text) => <p key={text} class='know-note is-warning'>{text}</p>)}
      <ol class='know-results'>
        {result?.parts.map((part) => (
          <li key={`${part.kind} ${part.id}`}>
            <Result part={part} panel={panel} />
          </li>
        ))}
      </ol>
      {result?.hasMore === true && result.parts.length < 100 && (
        <button
          type='button'
          class='button know-more'
          data-testid='knowledge-more'
          onClick={() => panel.search.more()}
        >
          Show more
        </button>
      )}
    </div>
  );
}

function noteOf(result: FoundParts | undefined, { search, files }: KnowledgePanel): string {
  if (!result) return 'Searching…';
  if (result.parts.length > 0) {
    const doubt = result.answered < 0.5 ? 'Your files probably do not answer this. Nearest: ' : '';
    return `${doubt}${formatCount(result.parts.length, 'passage')}${result.hasMore ? ' and more' : ''}, in ${
      Math.max(1, Math.round(result.tookMs))
    } ms`;
  }
  if (files.value?.length === 0) return 'No files yet. Add some, then search again.';
  return search.scope.value.length > 0
    ? 'No results in this file. Search all files, or try other words.'
    : 'No results. Try other words.';
}

function Result({ part, panel }: { part: FoundPart; panel: KnowledgePanel }): JSX.Element {
  const { file, title, lines, line, content, ranges, confidence, piece, kind } = part;
  const marked = line === undefined ? lines : [line, line] as const;
  const snippet = snippetOf(kind === 'code' ? content : flowingText(content), ranges);
  const open = (): void => {
    void panel.reading.read(file, { piece, ranges, ...(kind === 'code' && marked && { lines: marked }) });
  };
  return (
    <article class='know-result' data-testid='knowledge-result' data-file={file}>
      <button type='button' class='know-result-open' data-testid='knowledge-open' onClick={open}>
        <span class='know-result-title'>{title ?? file}</span>
        <Confidence value={confidence} />
        <span class={kind === 'code' ? 'know-snippet is-code' : 'know-snippet'}>
          <MarkedText {...snippet} />
        </span>
      </button>
      <p class='know-place'>
        <button
          type='button'
          title={`Search only in ${file}`}
          data-testid='knowledge-only-file'
          onClick={() => panel.search.searchIn([file])}
        >
          <Icon name={kind === 'code' ? 'code' : 'file'} />
          <span>{file}</span>
        </button>
        {lines && <span>{formatLines(lines)}</span>}
      </p>
      <Why part={part} />
    </article>
  );
}
