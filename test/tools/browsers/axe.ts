/** What axe says of a page. */

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** What axe finds wrong on the page as it is now: the rule, and where. */
export async function violations(page: Page): Promise<string[]> {
  return await ask(page, { type: 'tag', values: tags });
}

/** The same by the rules about colours alone: for the other theme of a page whose rest was asked about. */
export async function violationsOfColour(page: Page): Promise<string[]> {
  return await ask(page, { type: 'rule', values: ['color-contrast', 'link-in-text-block'] });
}

async function ask(
  page: Page,
  runOnly: { readonly type: 'tag' | 'rule'; readonly values: string[] },
): Promise<string[]> {
  await page.evaluate(`globalThis.axe || (() => { ${axe} })()`); // over the debugger: the page's policy lets no script in
  await page.evaluate(settled); // colours that are on their way to others are no findings
  const { violations: found } = await page.evaluate(
    (asked) =>
      (globalThis as unknown as { axe: { run(options: object): Promise<AxeResults> } }).axe.run({
        runOnly: asked,
        resultTypes: ['violations'],
        preload: false,
      }),
    runOnly,
  );
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')} ${failureSummary}`)
  );
}

/** Runs in the page: until everything that moves has come to rest. */
export async function settled(): Promise<void> {
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const moving = document.getAnimations().filter(({ effect }) => effect?.getTiming().iterations !== Infinity);
  await Promise.all(moving.map(({ finished }) => finished.catch(() => undefined)));
}
