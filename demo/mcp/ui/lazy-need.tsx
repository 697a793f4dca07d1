import { lazy } from '../../kit/lazy.tsx';

/** What an MCP server needs of the person, fetched with the first such call. */
export const NeedCard = lazy(async () => (await import('./need-card.tsx')).NeedCard);
