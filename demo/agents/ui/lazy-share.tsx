/** The sharing of an agent, loaded when an agent is opened. */

import { lazy } from '../../kit/lazy.tsx';

/** An agent as a file and as a link. */
export const ShareSection = lazy(async () => (await import('./share-section.tsx')).ShareSection);
