import type { JSX } from 'preact';
import { Fold } from '../../kit/fold.tsx';
import type { CompactionPart } from '../state/message.ts';

const number = new Intl.NumberFormat('en-US');

/** A line about the summary of earlier messages. */
export function Compaction({ part: { summary, tokensBefore, tokensAfter } }: { part: CompactionPart }): JSX.Element {
  const label = `Earlier messages were summarized (${number.format(tokensBefore)} → ${
    number.format(tokensAfter)
  } tokens)`;
  return <Fold icon='fold' testId='compaction' label={label} text={summary ?? ''} />;
}
