/** What tools are made with, fetched when the first tool of data is opened. */

import { lazy } from '../../kit/lazy.tsx';

/** Edits and tries a tool in its form. */
export const ToolWork = lazy(async () => (await import('./tool-work.tsx')).ToolWork);

/** Tries a tool of the registry. */
export const ToolTrial = lazy(async () => (await import('./tool-work.tsx')).ToolTrial);
