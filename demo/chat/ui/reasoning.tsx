import type { JSX } from 'preact';
import { Fold } from '../../kit/fold.tsx';
import type { ReasoningPart } from '../state/message.ts';

/** The model's reasoning. */
export function Reasoning({ part: { text, done } }: { part: ReasoningPart }): JSX.Element | null {
  if (text.value === '' && done.value) return null;
  const label = done.value ? 'Reasoning' : <span class='shimmer'>Thinking…</span>;
  return <Fold icon='thought' testId='reasoning' label={label} text={text.value} />;
}
