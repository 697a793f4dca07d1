import type { BrowserContext, FrameLocator, Page } from 'playwright';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { useServer } from '../../../tools/browsers/mcp-server.ts';
import { send, usePlayground } from '../../../tools/browsers/playground.ts';
import { tooWide, violationsInBoth } from '../../../tools/screens/look.ts';
import { type AppServer, startAppServer } from '../../../tools/servers/app-server.ts';

const { open, newContext, shoot } = usePlayground();
let server: AppServer;
beforeAll(async () => {
  server = await startAppServer();
});
afterAll(() => server.close());

/** Registers the server with its apps, approves them, and lets an agent use it. */
async function prepare(page: Page): Promise<void> {
  await useServer(page, {
    id: 'harbor',
    url: server.url,
    apps: true,
    reads: ['tides', 'refresh', 'report', 'attack', 'listed'],
    async onReview() {
      await page.getByTestId('mcp-apps').scrollIntoViewIfNeeded();
      await shoot(page, `app-review-${page.viewportSize()?.width}`);
    },
  });
}

/** The document of the shown app. */
function view(page: Page): FrameLocator {
  return page.getByTestId('app-frame').last().contentFrame().frameLocator('iframe');
}

async function openTides(page: Page): Promise<FrameLocator> {
  await send(page, 'Call harbor__tides with port "Brest"');
  await view(page).locator('#state').getByText('ready').waitFor();
  return view(page);
}

const state = (app: FrameLocator, text: string) => app.locator('#state').getByText(text).waitFor();

describe('apps of MCP servers in the built playground', () => {
  it('show a result in a frame of their own, under the name of their server', async () => {
    const { page, problems, strangers } = await open();
    await prepare(page);
    const app = await openTides(page);
    expect(await app.locator('#chart i').allTextContents()).toEqual(['1', '3', '5', '6', '4', '2']);
    expect(await app.locator('#text').textContent()).toBe('High tide at 9:00');
    expect(await app.locator('#input').textContent()).toBe('{"port":"Brest"}');
    expect(await page.getByTestId('app').getByRole('heading').textContent()).toContain('App from harbor');
    expect(await page.getByTestId('app-host').textContent()).toBe(new URL(server.url).host);
    expect(await page.getByTestId('app-origins').count()).toBe(0);
    expect(await page.getByTestId('app-frame').getAttribute('sandbox')).toBe('allow-scripts allow-forms');
    await page.getByTestId('app').scrollIntoViewIfNeeded();
    await shoot(page, 'app-light');
    await page.getByTestId('app-tall').click();
    await shoot(page, 'app-tall');
    for (const colorScheme of ['dark', 'light'] as const) { // the app follows the system
      await page.emulateMedia({ colorScheme });
      await app.locator(`:root[data-theme=${colorScheme}]`).waitFor();
    }
    await page.getByTestId('app-hide').click();
    await page.getByTestId('app-show').click();
    await state(view(page), 'ready');
    expect(strangers.every((url) => url.startsWith(server.url))).toBe(true);
    expect(problems).toEqual([]);
    // After a reload a person asks for it again; an app that has changed since is not shown.
    await page.reload();
    await page.getByTestId('app-show').waitFor();
    expect(await page.getByTestId('app').count()).toBe(0);
    server.change();
    await page.getByTestId('app-show').click();
    await page.getByTestId('app-closed').getByText('has changed since it was approved').waitFor();
    await shoot(page, 'app-drifted');
    await send(page, 'Call harbor__tides with port "Brest"');
    await page.locator('[data-testid=tool-card][data-state=result]').nth(1).waitFor();
    await expect.poll(() => page.getByTestId('app-closed').count()).toBe(1);
  });

  it('call tools of their server as a model would, with approvals', async () => {
    const { page } = await open({ width: 390, height: 844, dark: true });
    await prepare(page);
    const app = await openTides(page);
    await app.locator('#refresh').click();
    await state(app, 'made: Tides are fresh');
    await app.locator('#report').click(); // for models only
    await state(app, 'refused: Cannot call the tool');
    const before = server.calls.length;
    await app.locator('#remove').click();
    await page.getByTestId('app-question').waitFor();
    expect(await page.getByTestId('app-call').textContent()).toContain('harbor__remove');
    expect(await page.getByTestId('app-approve').isDisabled()).toBe(true); // a click meant for the app does not approve
    await shoot(page, 'app-question-dark');
    await page.getByTestId('app-deny').click();
    await state(app, 'refused: Cannot call tool "harbor__remove": a person has denied the call');
    expect(server.calls.slice(before)).toEqual([]);
    await app.locator('#remove').click();
    await page.getByTestId('app-approve').click();
    await state(app, 'made: Removed');
    expect(server.calls.slice(before)).toEqual(['remove']);
    await shoot(page, 'app-dark');
  });

  it('open an address after a person has seen it, and only write into an empty composer', async () => {
    const context = await newContext();
    const requested: string[] = [];
    await context.route('https://*/**', async (route) => {
      requested.push(route.request().url());
      await route.fulfill({ contentType: 'text/html', body: '<title>Port</title>' });
    });
    const { page } = await open({ context });
    await prepare(page);
    const app = await openTides(page);
    await app.locator('#link').click();
    expect(await page.getByTestId('ask-address').locator('b').textContent()).toBe('tides.example');
    await shoot(page, 'app-link');
    await page.getByTestId('app-deny').click();
    await state(app, 'link refused');
    expect(requested).toEqual([]);
    await app.locator('#link').click();
    const [site] = await Promise.all([context.waitForEvent('page'), page.getByTestId('ask-open').click()]);
    await site.waitForLoadState();
    expect(requested).toEqual(['https://tides.example/port?id=7']);
    expect(await site.evaluate(() => [opener, document.referrer])).toEqual([null, '']);
    await state(app, 'link opened');
    const messages = await page.getByTestId('message').count();
    await app.locator('#message').click();
    await state(app, 'message written');
    expect(await page.getByTestId('composer').inputValue()).toBe('When is high tide tomorrow?');
    await expect.poll(() => page.getByTestId('message').count()).toBe(messages);
    await page.getByTestId('composer').fill('My own words');
    await app.locator('#message').click();
    await state(app, 'message refused');
    expect(await page.getByTestId('composer').inputValue()).toBe('My own words');
  });

  it('have no serious accessibility problems', async () => {
    const { page } = await open();
    await prepare(page);
    const app = await openTides(page);
    await app.locator('#remove').click();
    await page.getByTestId('app-question').waitFor();
    expect([...await violationsInBoth(page), ...await tooWide(page)]).toEqual([]);
  });
});

describe('a hostile app in the built playground', () => {
  let context: BrowserContext;
  beforeAll(async () => {
    context = await newContext();
    const { page } = await open({ context });
    await prepare(page);
  });
  beforeEach(() => Promise.all(context.pages().map((page) => page.close())));

  async function attack(page: Page, way: string): Promise<FrameLocator> {
    await send(page, `Call harbor__attack with way "${way}"`);
    await page.getByTestId('app-frame').last().waitFor();
    return view(page);
  }

  it.each(['network', 'form', 'navigate', 'refresh', 'top'])('sends nothing anywhere: %s', async (way) => {
    const { page, problems } = await open({ context });
    const url = page.url();
    const before = server.recorded.length;
    const app = await attack(page, way);
    const survives = way === 'network' || way === 'top'; // others leave an empty frame
    if (survives) await app.locator('#state').getByText(`tried ${way}`).waitFor();
    else {
      // Chromium reports the refused page before it shows the empty one in its place.
      await app.locator('#state').waitFor({ state: 'detached' });
      expect(problems.join()).toMatch(/Framing 'http:\/\/127\.0\.0\.1:\d+\/' violates/);
    }
    expect(server.recorded.slice(before)).toEqual([]);
    expect(new URL(page.url()).origin).toBe(new URL(url).origin);
    expect(page.context().pages()).toHaveLength(1);
    if (way !== 'network') return;
    const { log } = JSON.parse(await app.locator('#log').textContent() ?? '') as { readonly log: readonly string[] };
    for (
      const name of ['fetch', 'import', 'popup', 'storage', 'cookie', 'database', 'parent document', 'top document']
    ) {
      expect(log).toContain(`${name}:refused`);
    }
  });

  it('reaches the origins that were approved, and no others', async () => {
    const { page } = await open({ context });
    const before = server.recorded.length;
    await send(page, 'Call harbor__listed with way "network"');
    await view(page).locator('#state').getByText('tried network').waitFor();
    expect(await page.getByTestId('app-origins').textContent()).toMatch(/^Can connect to http:\/\/127\.0\.0\.1:\d+$/);
    const reached = new Set(server.recorded.slice(before));
    expect([...reached]).toEqual(expect.arrayContaining(['/fetch', '/beacon', '/events'])); // the same attempts, allowed
    expect([...reached].filter((path) => !['/fetch', '/beacon', '/events', '/ping', '/prefetch'].includes(path)))
      .toEqual([]);
  });

  it('takes no key that a person types for the page', async () => {
    const { page } = await open({ context });
    await send(page, 'Call harbor__attack with way "focus"');
    const app = view(page);
    const closed = page.getByTestId('app-closed').last();
    await closed.getByText('took the keyboard').waitFor();
    const composer = page.getByTestId('composer');
    await composer.and(page.locator(':focus')).waitFor();
    await page.keyboard.type('A passphrase', { delay: 30 });
    expect(await composer.inputValue()).toBe('A passphrase');
    await shoot(page, 'app-focus');
    // A person who shows it again may use it.
    await closed.getByTestId('app-show').click();
    await app.locator('input').and(app.locator(':focus')).waitFor();
    await page.keyboard.type('For the app');
    expect(await app.locator('input').inputValue()).toBe('For the app');
  });

  it('is used with the keyboard', async () => {
    const { page } = await open({ context });
    await send(page, 'Call harbor__tides with port "Brest"');
    const app = view(page);
    await app.locator('#state').getByText('ready').waitFor();
    await page.getByTestId('app-hide').focus();
    await page.keyboard.press('Tab');
    await app.locator('#refresh').and(app.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await state(app, 'made: Tides are fresh');
    expect(await page.getByTestId('app-closed').getByText('took the keyboard').count()).toBe(0);
  });

  it('gets nothing of its host but what a person decides', async () => {
    const { page } = await open({ context });
    const calls = server.calls.length;
    const app = await attack(page, 'host');
    await app.locator('#state').getByText('tried host').waitFor();
    const { answers } = JSON.parse(await app.locator('#log').textContent() ?? '') as {
      readonly answers: readonly (readonly [number, string])[];
    };
    const answer = new Map(answers);
    const refused = expect.stringContaining('"isError":true');
    expect([100, 101, 102].map((id) => answer.get(id))).toEqual([refused, refused, refused]);
    expect([105, 106, 111, 112].map((id) => answer.get(id))).toEqual(Array(4).fill('error -32601'));
    expect([107, 108, 109].map((id) => answer.get(id))).toEqual(Array(3).fill('{"isError":true}'));
    expect(answer.get(110)).toBe('{"mode":"inline"}');
    expect(answer.has(104)).toBe(false); // it waits for the person
    expect(server.calls.slice(calls).filter((name) => name !== 'attack')).toEqual([]);
    const frame = await page.getByTestId('app-frame').boundingBox();
    const question = await page.getByTestId('app-question').boundingBox();
    expect(frame?.height).toBeLessThanOrEqual(480);
    expect((question?.y ?? 0) + (question?.height ?? 0)).toBeLessThanOrEqual(frame?.y ?? 0);
    expect(await page.getByTestId('app-frame').getAttribute('inert')).not.toBeNull();
    expect(await app.locator('h1').first().textContent()).toBe('tried host'); // not replaced
    await shoot(page, 'app-hostile');
  });
});
