import type { JSX } from 'preact';
import type { PlanPart } from '../state/plan-data.ts';
import { lazy } from '../../kit/lazy.tsx';

/** An answer's plan; until its code has been fetched, its goal. */
export const PlanCard = lazy(async () => (await import('./plan-card.tsx')).PlanCard, { StandIn: Goal });

function Goal({ part }: { part: PlanPart }): JSX.Element {
  return <p class='plain-text'>{part.view.value.goal}</p>;
}
