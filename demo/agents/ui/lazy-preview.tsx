import { lazy } from '../../kit/lazy.tsx';

/** The preview brings what shows answers. */
export const PreviewPane = lazy(async () => (await import('./preview-pane.tsx')).PreviewPane);
