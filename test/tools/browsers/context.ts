/** A browser context as tests and pictures open the playground in. */

import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright';

/** How a context differs from the usual one. */
export interface ContextOptions extends Pick<BrowserContextOptions, 'reducedMotion'> {
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
  /** The page keeps its files for a visit without a network. */
  readonly offline?: boolean;
  /** The page has a shared worker, which outlasts a reload. The driver sees and answers only the requests of a dedicated one. */
  readonly lasting?: boolean;
}

/** Opens a context with nothing stored. */
export async function newPlaygroundContext(
  browser: Browser,
  { width = 1280, height = 800, dark = false, offline = false, lasting = false, ...how }: ContextOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
    serviceWorkers: offline ? 'allow' : 'block', // it would fetch the whole build anew for every test
    ...how,
  });
  if (!lasting) await context.addInitScript(() => Reflect.deleteProperty(globalThis, 'SharedWorker'));
  return context;
}
