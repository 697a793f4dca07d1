/** The built playground in a real Chromium, as a person has it. */

import { join } from 'node:path';
import process from 'node:process';
import { type Browser, type BrowserContext, chromium as browserType, type Page } from 'playwright';
import { afterAll, beforeAll, inject } from 'vitest';
import { chromium } from './chromium.ts';

/** How the window is. */
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

/** What tests do with the playground. */
interface Playground {
  /** A browser without anything stored; close it, or leave it to the end. Only where `offline` is set it keeps the page's files. */
  readonly newContext: (look?: Look & { readonly offline?: boolean }) => Promise<BrowserContext>;
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

/** Gives the playground to the tests of a file; Chromium starts before them and stops after them. */
export function usePlayground(): Playground {
  let browser: Browser;
  beforeAll(async () => {
    browser = await browserType.launch(chromium);
  });
  afterAll(() => browser.close());
  const newContext: Playground['newContext'] = ({ width = 1280, height = 800, dark = false, offline = false } = {}) =>
    browser.newContext({
      viewport: { width, height },
      colorScheme: dark ? 'dark' : 'light',
      serviceWorkers: offline ? 'allow' : 'block', // it would fetch the whole build anew for every test
    });
  return {
    newContext,
    async open({ context, url = inject('playground'), ready = 'composer', ...look } = {}) {
      const page = await (context ?? await newContext(look)).newPage();
      const problems: string[] = [];
      const strangers: string[] = [];
      page.on('request', (request) => isStranger(request.url(), url) && strangers.push(request.url()));
      page.on('worker', (worker) => void worker.evaluate(tellViolations).catch(() => undefined)); // it may have ended
      page.on('pageerror', (error) => problems.push(String(error)));
      page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
      await page.goto(url);
      await page.getByTestId(ready).waitFor();
      return { page, problems, strangers };
    },
    async shoot(page, name) {
      const folder = process.env['SHOTS'];
      if (folder) await page.screenshot({ path: join(folder, `${name}.png`) });
    },
  };
}

function isStranger(url: string, page: string): boolean {
  const { protocol, origin } = new URL(url);
  return protocol !== 'data:' && protocol !== 'blob:' && origin !== new URL(page).origin;
}

/** The console tells what a page's policy has refused, but not what a worker's has. */
function tellViolations(): void {
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
