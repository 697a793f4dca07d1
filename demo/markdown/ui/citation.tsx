import { createContext, type JSX } from 'preact';
import { useContext } from 'preact/hooks';
import type { CitedSource } from '../../chat/state/run-data.ts';

/** The sources of numbers in brackets, and what opens them. */
export interface CitationScope {
  readonly sources: ReadonlyMap<number, CitedSource>;
  /** The number by which people see a source of this answer. */
  readonly shownAs: (n: number) => number;
  readonly onOpen: (source: CitedSource) => void;
}

/** Around an answer; elsewhere numbers in brackets are text. */
export const Citations = createContext<CitationScope | undefined>(undefined);

/** Numbers in brackets: buttons that open the sources, as far as there are any of these numbers. */
export function Citation({ numbers, text }: { numbers: readonly number[]; text: string }): JSX.Element {
  const scope = useContext(Citations);
  if (!scope || !numbers.some((n) => scope.sources.has(n))) return <>{text}</>;
  return (
    <>
      {numbers.map((n) => {
        const source = scope.sources.get(n);
        return source ? <CitationButton key={n} source={source} scope={scope} /> : `[${n}]`;
      })}
    </>
  );
}

function CitationButton(
  { source, scope: { shownAs, onOpen } }: { source: CitedSource; scope: CitationScope },
): JSX.Element {
  const { n, title, uri } = source;
  return (
    <button
      type='button'
      class='citation'
      data-testid='citation'
      data-n={n}
      aria-label={`Source ${shownAs(n)}: ${title ?? uri}`}
      title={title ?? uri}
      onClick={() => onOpen(source)}
    >
      {shownAs(n)}
    </button>
  );
}
