import type { JSX } from 'preact';
import type { CitationScope } from '../../markdown/ui/citation.tsx';
import { Confidence } from '../../kit/confidence.tsx';
import { numbersCited, sourcesIn } from '../state/citations.ts';
import { type CitedSource } from '../state/run-data.ts';
import { safeHref } from '../../markdown/state/markdown-links.ts';
import { answerText, type AssistantMessage } from '../state/message.ts';
import { formatCount, formatLines } from '../../kit/format.ts';

interface CitedSourcesProps {
  readonly message: AssistantMessage;
  readonly scope: CitationScope;
  /** Whether the source can be opened on this page. */
  readonly canOpen: (source: CitedSource) => boolean;
}

/** What an answer cites, and on demand what else it was given to read. */
export function CitedSources({ message, scope, canOpen }: CitedSourcesProps): JSX.Element | null {
  const numbers = numbersCited(answerText(message));
  const cited = [...scope.sources.values()].filter(({ n }) => numbers.has(n))
    .toSorted((a, b) => scope.shownAs(a.n) - scope.shownAs(b.n));
  const others = sourcesIn(message).filter(({ n }) => !numbers.has(n));
  if (cited.length + others.length === 0) return null;
  const items = (sources: readonly CitedSource[]): JSX.Element => (
    <ul>
      {sources.map((source) => (
        <li key={source.n}>
          <Source source={source} canOpen={canOpen(source)} scope={scope} />
        </li>
      ))}
    </ul>
  );
  return (
    <aside class='cited' aria-label='Sources' data-testid='cited-sources'>
      {cited.length > 0 && <h3>Sources</h3>}
      {cited.length > 0 && cited.every(isDoubtful) && (
        <p class='cited-doubt' data-testid='cited-doubt'>
          The sources probably do not answer this. These are the closest passages.
        </p>
      )}
      {cited.length > 0 && items(cited)}
      {others.length > 0 && message.outcome.value.type !== 'running' && (
        <details data-testid='uncited-sources'>
          <summary>{formatCount(others.length, 'more passage')} found, not cited</summary>
          {items(others)}
        </details>
      )}
    </aside>
  );
}

/** Whether the search that found it probably found no answer. */
function isDoubtful({ answered = 1 }: CitedSource): boolean {
  return answered < 0.5;
}

interface SourceProps {
  readonly source: CitedSource;
  readonly canOpen: boolean;
  readonly scope: CitationScope;
}

function Source({ source, canOpen, scope: { shownAs, onOpen } }: SourceProps): JSX.Element {
  const { n, title, uri, lines: [from, to] = [], confidence } = source;
  const href = canOpen ? undefined : safeHref(uri);
  const about = (
    <>
      <span class='cited-number'>{shownAs(n)}</span>
      <span class='cited-title'>{title ?? uri}</span>
      <span class='cited-place'>
        {title !== undefined && uri !== title && <span>{uri}</span>}
        {from !== undefined && to !== undefined && <span>{formatLines([from, to])}</span>}
        <Confidence value={confidence} />
      </span>
    </>
  );
  if (canOpen) {
    return (
      <button
        type='button'
        class='cited-source'
        data-testid='cited-source'
        data-n={n}
        onClick={() => onOpen(source)}
      >
        {about}
      </button>
    );
  }
  return href === undefined
    ? <p class='cited-source' data-testid='cited-source' data-n={n} tabIndex={-1}>{about}</p>
    : (
      <a
        class='cited-source'
        data-testid='cited-source'
        data-n={n}
        href={href}
        target='_blank'
        rel='noopener noreferrer'
      >
        {about}
      </a>
    );
}
