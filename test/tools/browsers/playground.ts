/** The built playground in a real Chromium, or in Firefox, as a person has it. */

import { join } from 'node:path';
import process from 'node:process';
import { type Browser, type BrowserContext, chromium as browserType, type Page } from 'playwright';
import { afterAll, beforeAll, inject } from 'vitest';
import { chromium } from './chromium.ts';
import { type ContextOptions, newPlaygroundContext } from './context.ts';
import { launchFirefox } from './firefox.ts';

interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
}

/** A page, and what it has complained about so far. */
interface OpenPage {
  readonly page: Page;
  readonly problems: string[];
  /** Requests of the page and its workers to other origins than its own. */
  readonly strangers: string[];
}

interface Playground {
  /** A browser without anything stored; close it, or leave it to the end. */
  readonly newContext: (look?: ContextOptions) => Promise<BrowserContext>;
  /** Opens the playground in a context of its own, or in this one; at `url` where another one is meant. */
  readonly open: (
    how?: Look & {
      readonly context?: BrowserContext;
      readonly url?: string;
      /** What is there when the page is; the composer, when absent. */
      readonly ready?: string;
    },
  ) => Promise<OpenPage>;
  /** Keeps a picture where `SHOTS` names a folder for them. */
  readonly shoot: (page: Page, name: string) => Promise<void>;
}

type BrowserName = 'chromium' | 'firefox';

/** The browsers of this process: its test files share them, for a start is a second of work. Playwright ends them with the process. */
const started = new Map<string, Promise<Browser>>();

/** Returns the browser of these options, which starts when it is first wanted or has ended. */
async function browserOf(name: BrowserName, args: readonly string[]): Promise<Browser> {
  const key = [name, ...args].join(' ');
  const running = await started.get(key)?.catch(() => undefined);
  if (running?.isConnected()) return running;
  const launched = name === 'firefox'
    ? launchFirefox()
    : browserType.launch({ ...chromium, args: [...chromium.args, ...args] });
  started.set(key, launched);
  return launched;
}

/** Returns the playground to the tests of a file. What they leave open is closed after them. */
export function usePlayground(
  name: BrowserName = process.env['E2E_BROWSER'] === 'firefox' ? 'firefox' : 'chromium',
  /** Further arguments of Chromium's command line. */
  args: readonly string[] = [],
): Playground {
  let browser: Browser;
  const contexts: BrowserContext[] = [];
  beforeAll(async () => {
    browser = await browserOf(name, args);
  });
  afterAll(() => Promise.all(contexts.splice(0).map((context) => context.close())));
  const newContext: Playground['newContext'] = async (look = {}) => {
    const lasting = process.env['E2E_WORKER'] === 'shared';
    // What moves is drawn by the processor here: a third of the browser's work.
    const context = await newPlaygroundContext(browser, { lasting, reducedMotion: 'reduce', ...look });
    contexts.push(context);
    if (name === 'firefox') {
      context.setDefaultTimeout(60_000);
      await context.addInitScript(logViolations); // its driver reports few of them
      // Firefox cannot emulate the system's color scheme, so choose the theme in the page.
      if (look.dark) await context.addInitScript(chooseDark);
    }
    return context;
  };
  return {
    newContext,
    async open({ context, url = inject('playground'), ready = 'composer', ...look } = {}) {
      const page = await (context ?? await newContext(look)).newPage();
      const problems: string[] = [];
      const strangers: string[] = [];
      page.on('request', (request) => isStranger(request.url(), url) && strangers.push(request.url()));
      page.on('worker', (worker) => void worker.evaluate(logViolations).catch(() => undefined)); // it may have ended
      // Firefox reports the style that Playwright adds to a page for its picture.
      const isOfPicture = (text: string): boolean =>
        name === 'firefox' && process.env['SHOTS'] !== undefined && text.includes('style-src');
      const complain = (text: string): unknown => isOfPicture(text) || problems.push(text);
      page.on('pageerror', (error) => complain(String(error)));
      page.on('console', (message) => message.type() === 'error' && complain(message.text()));
      await page.goto(url);
      await page.getByTestId(ready).waitFor();
      return { page, problems, strangers };
    },
    async shoot(page, picture) {
      const folder = process.env['SHOTS'];
      if (folder) await page.screenshot({ path: join(folder, `${picture}.png`) });
    },
  };
}

function isStranger(url: string, page: string): boolean {
  const { protocol, origin } = new URL(url);
  return protocol !== 'data:' && protocol !== 'blob:' && origin !== new URL(page).origin;
}

function chooseDark(): void {
  if (location.protocol === 'http:') localStorage.setItem('pinnace.theme', '"dark"'); // an empty page keeps nothing
}

/** Logs policy violations. The console shows those of a page, but not those of a worker. */
function logViolations(): void {
  addEventListener(
    'securitypolicyviolation',
    ({ violatedDirective, blockedURI, sourceFile }) =>
      console.error(`The policy was violated: ${violatedDirective} ${blockedURI} ${sourceFile}`),
  );
}

/** Says something to the agent, as soon as no dialog holds the keyboard. */
export async function send(page: Page, text: string): Promise<void> {
  await page.locator('dialog[open]').waitFor({ state: 'hidden' });
  await page.getByTestId('composer').fill(text);
  await page.getByTestId('composer').press('Enter');
}
