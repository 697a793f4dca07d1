import type { JSX } from 'preact';
import { lazy } from '../../kit/lazy.tsx';

interface MathProps {
  readonly text: string;
  readonly isBlock: boolean;
}

/** A formula; until its reader has been fetched, as it is written. */
export const Formula = lazy(async () => (await import('./formula.tsx')).Formula, { StandIn: Source });

function Source({ text }: MathProps): JSX.Element {
  return <code>{text}</code>;
}
