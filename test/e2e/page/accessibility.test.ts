import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { share } from '../../fixtures/budget.ts';
import { usePlayground } from '../../tools/browsers/playground.ts';
import { tooWide, violationsInBoth } from '../../tools/screens/look.ts';
import { type Served, serveWithEndpoint } from '../../tools/servers/endpoint-page.ts';
import { screenServers } from '../../tools/servers/screen-servers.ts';
import { type NamedScreen, type Walk, walks } from '../../tools/screens/table.ts';

const { open, shoot } = usePlayground();
const servers = screenServers();
let served: Served;

beforeAll(async () => {
  served = await serveWithEndpoint(inject('playgroundFolder'));
});

afterAll(async () => void await Promise.all([served.stop(), servers.close()]));

const wide = { width: 1280, height: 800 };
const narrow = { width: 360, height: 740 };

/** Goes to the screen, and gives what is wrong with it. */
async function look(page: Page, { name, go, isNarrow = false }: NamedScreen): Promise<string[]> {
  await page.setViewportSize(isNarrow ? narrow : wide);
  await go(page, { ...served, servers });
  const found = [...await violationsInBoth(page), ...await tooWide(page)];
  await shoot(page, name);
  return found.map((each) => `${name}: ${each}`);
}

const named = walks().map((walk): readonly [names: string, walk: Walk] => [
  walk.map(({ title }) => title).join(' → '),
  walk,
]);

describe('every screen of the playground', () => {
  it.each(share(named, 3))(
    'has nothing wrong to axe in light and in dark, and fits 320 to 1920 px: %s',
    async (_, walk) => {
      const { page, problems, strangers } = await open({ url: served.playground });
      const found: string[] = [];
      for (const screen of walk) found.push(...await look(page, screen));
      expect(found).toEqual([]);
      if (!walk[0].isBroken) expect(problems).toEqual([]);
      const known = [served.endpoint, ...servers.origins()];
      const unknown = strangers.filter((url) => !known.some((origin) => url.startsWith(origin)));
      if (!walk[0].isBroken) expect(unknown).toEqual([]);
      await page.context().close();
    },
  );
});
