import { lazy } from '../../kit/lazy.tsx';

/** Prompts and resources of MCP servers, fetched with the first "/". */
export const CommandMenu = lazy(async () => (await import('./command-menu.tsx')).CommandMenu);
