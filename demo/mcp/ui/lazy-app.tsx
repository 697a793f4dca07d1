import { lazy } from '../../kit/lazy.tsx';

/** The app of a call, fetched with the first such call. */
export const AppCard = lazy(async () => (await import('./app-card.tsx')).AppCard);
