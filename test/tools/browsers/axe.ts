/** Checks a page with axe. */

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Returns axe's violations on the page as it is now: the rule, and where. */
export async function violations(page: Page): Promise<string[]> {
  return await violationsOf(page, { type: 'tag', values: tags });
}

/** The same with the color rules only: for the second theme of a page that was already checked. */
export async function violationsOfColour(page: Page): Promise<string[]> {
  return await violationsOf(page, { type: 'rule', values: ['color-contrast', 'link-in-text-block'] });
}

async function violationsOf(
  page: Page,
  runOnly: { readonly type: 'tag' | 'rule'; readonly values: string[] },
): Promise<string[]> {
  // Over the debugger: the page's policy lets no script in.
  if (!await page.evaluate(() => 'axe' in globalThis)) await page.evaluate(axe);
  await page.evaluate(settled); // colours that are on their way to others are no findings
  const { violations: found } = await page.evaluate(
    (only) =>
      (globalThis as unknown as { axe: { run(options: object): Promise<AxeResults> } }).axe.run({
        runOnly: only,
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
  const moving = document.getAnimations().filter(({ effect }) => {
    // What is folded away is not drawn, so its transitions never end.
    const isDrawn = !(effect instanceof KeyframeEffect) || effect.target?.checkVisibility() !== false;
    return isDrawn && effect?.getTiming().iterations !== Infinity;
  });
  await Promise.all(moving.map(({ finished }) => finished.catch(() => undefined)));
}
