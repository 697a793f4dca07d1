import type { JSX } from 'preact';
import type { FoundBy, FoundPart, FoundParts } from '../../control/knowledge-control.ts';
import { Confidence, percentOf } from '../../kit/confidence.tsx';
import { formatCount, formatLines } from '../../kit/format.ts';
import { Icon } from '../../kit/icon.tsx';
import { flowingText } from '../state/flowing-text.ts';
import type { KnowledgePanel } from '../state/knowledge-panel.ts';
import { MarkedText, snippetOf } from './marked-text.tsx';
import { Button } from '../../kit/button.tsx';

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
        <Button
          class='know-more'
          testId='knowledge-more'
          onClick={() => panel.search.more()}
        >
          Show more
        </Button>
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

const ways: Readonly<Record<FoundBy['way'], { readonly name: string; readonly score: string }>> = {
  words: { name: 'Words', score: 'BM25' },
  likeness: { name: 'Similarity', score: 'cosine' },
  code: { name: 'Code', score: 'Score' },
};

/** Why a part was found: the words, and how each way of searching ranked it. */
function Why({ part: { content, ranges, foundBy, confidence } }: { part: FoundPart }): JSX.Element {
  const words = [...new Set(ranges.map(([from, to]) => content.slice(from, to).toLowerCase()))];
  return (
    <details class='know-why' data-testid='knowledge-why'>
      <summary>Why</summary>
      <p>
        {words.length > 0
          ? (
            <>
              Contains {words.slice(0, 12).map((word, i) => (
                <span key={word}>
                  {i > 0 && ', '}
                  <mark>{word}</mark>
                </span>
              ))}.
            </>
          )
          : 'Contains none of the exact words, but similar ones.'}
      </p>
      <table>
        <thead>
          <tr>
            <th scope='col'>Found by</th>
            <th scope='col'>Rank</th>
            <th scope='col'>Score</th>
            <th scope='col'>Confidence</th>
          </tr>
        </thead>
        <tbody>
          {foundBy.map(({ way, rank, score, confidence: alone }) => (
            <tr key={way}>
              <th scope='row'>{ways[way].name}</th>
              <td>{rank}</td>
              <td>{ways[way].score} {score.toFixed(2)}</td>
              <td>{percentOf(alone)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class='know-meaning'>
        {foundBy.length > 1 ? 'Results are ordered by rank. ' : ''}
        Confidence{' '}
        {percentOf(confidence)}: the estimated probability that this passage is relevant to your search. The most likely
        results come first. If nothing fits, all results have a low confidence.
      </p>
    </details>
  );
}
