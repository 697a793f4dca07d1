import type { JSX } from 'preact';
import type { FoundBy, FoundPart } from '../../control/knowledge-control.ts';
import { percentOf } from '../../kit/confidence.tsx';

const ways: Readonly<Record<FoundBy['way'], { readonly name: string; readonly score: string }>> = {
  words: { name: 'Words', score: 'BM25' },
  likeness: { name: 'Similarity', score: 'cosine' },
  code: { name: 'Code', score: 'Score' },
};

/** Why a part was found: the words, and how each way of searching ranked it. */
export function Why({ part: { content, ranges, foundBy, confidence } }: { part: FoundPart }): JSX.Element {
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
