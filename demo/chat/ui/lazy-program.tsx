import { lazy } from '../../kit/lazy.tsx';
import { ToolCard } from './tool-card.tsx';

/** The card of a program; until its code has been fetched, that of any call. */
export const ProgramCard = lazy(async () => (await import('./program-card.tsx')).ProgramCard, { StandIn: ToolCard });
