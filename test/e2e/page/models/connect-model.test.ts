import type { BrowserContext, Page } from 'playwright';
import { afterEach, describe, expect, it } from 'vitest';
import { send, usePlayground } from '../../../tools/browsers/playground.ts';
import { tooWide, violationsInBoth } from '../../../tools/screens/look.ts';
import { type ModelServer, startModelServer } from '../../../tools/servers/model-server.ts';
import { startOpenRouter } from '../../../tools/servers/openrouter.ts';

const { newContext, open, shoot } = usePlayground();
const servers: Pick<ModelServer, 'close'>[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close()));

/** Starts a server that the browser finds at this address. */
async function serveAt(
  context: BrowserContext,
  origin: string,
  options: Parameters<typeof startModelServer>[0] = {},
): Promise<ModelServer> {
  const server = await startModelServer(options);
  servers.push(server);
  await context.route(
    `${origin}/**`,
    (route) => route.continue({ url: route.request().url().replace(origin, server.origin) }),
  );
  return server;
}

/** Nothing listens on the usual ports, whatever this machine runs. */
async function silence(context: BrowserContext): Promise<void> {
  for (const port of [11_434, 1234, 8080, 8000]) {
    await context.route(`http://127.0.0.1:${port}/**`, (route) => route.abort('connectionrefused'));
  }
}

async function choose(page: Page, source: string): Promise<void> {
  await page.getByTestId('model-badge').click();
  await page.getByTestId(`settings-${source}`).check();
}

async function ask(page: Page, text: string): Promise<string> {
  await send(page, text);
  const message = page.locator('[data-testid=message][data-role=assistant]').last();
  await message.getByTestId('answer-footer').waitFor();
  return await message.textContent() ?? '';
}

describe('models on this computer', () => {
  it('are looked for at a click, and a model of one answers', async () => {
    const context = await newContext();
    await silence(context);
    const server = await serveAt(context, 'http://127.0.0.1:1234', { models: ['tiny', 'small'] });
    const { page, strangers } = await open({ context });
    await choose(page, 'local');
    expect(strangers).toEqual([]);
    expect(await page.getByTestId('settings-save').isDisabled()).toBe(true);
    await page.getByTestId('local-look').click();
    await page.getByTestId('local-model').selectOption({ label: 'tiny' });
    await page.getByTestId('settings-save').click();
    await page.getByTestId('model-badge').getByText('tiny').waitFor();
    expect(await ask(page, 'Good morning')).toContain('tiny read');
    expect(server.requests).toContain('POST /v1/chat/completions');
  });

  it('that refuse the page come with the line that allows it', async () => {
    const context = await newContext();
    await silence(context);
    await serveAt(context, 'http://127.0.0.1:11434', { allowsPages: false });
    const { page } = await open({ context });
    await choose(page, 'local');
    await page.getByTestId('local-look').click();
    await page.locator('[data-testid=local-refused][data-server=ollama]').waitFor();
    const { origin } = new URL(page.url());
    const lines = await page.getByTestId('local-line').allTextContents();
    expect(lines).toContain(`launchctl setenv OLLAMA_ORIGINS "${origin}"`);
    expect(lines).toContain(`setx OLLAMA_ORIGINS "${origin}"`);
    await shoot(page, 'model-local');
    expect(await violationsInBoth(page)).toEqual([]);
    expect(await tooWide(page)).toEqual([]);
  });

  it('that are not there are named', async () => {
    const context = await newContext();
    await silence(context);
    const { page } = await open({ context });
    await choose(page, 'local');
    await page.getByTestId('local-look').click();
    expect(await page.getByTestId('local-none').textContent()).toContain('Ollama, LM Studio, llama.cpp, and vLLM');
  });
});

describe('a hosted provider', () => {
  const key = 'sk-groq-0123456789';

  async function fill(page: Page, { apiKey = key, model = 'large' } = {}): Promise<void> {
    await choose(page, 'endpoint');
    await page.getByTestId('settings-provider').selectOption('groq');
    await page.getByTestId('settings-key').fill(apiKey);
    await page.getByTestId('settings-model').fill(model);
  }

  it('is chosen by its name', async () => {
    const { page } = await open();
    await choose(page, 'endpoint');
    await page.getByTestId('settings-provider').selectOption('groq');
    expect(await page.getByTestId('settings-base-url').inputValue()).toBe('https://api.groq.com/openai/v1');
    await page.getByRole('link', { name: 'Create a key at Groq' }).waitFor();
  });

  it('lists its models, repeats its words, and keeps a key in the vault, which a reload locks', async () => {
    const context = await newContext();
    const server = await startModelServer({ models: ['large', 'larger'], keys: new Set([key]) });
    servers.push(server);
    const { page, problems } = await open({ context });
    await fill(page, { apiKey: 'sk-groq-wrong-000000' });
    await page.getByTestId('settings-base-url').fill(`${server.origin}/v1`);
    await page.getByTestId('settings-test').click();
    await page.locator('[data-testid=settings-said][data-ok=false]').waitFor();
    expect(await page.getByTestId('settings-said').textContent()).toContain('“No account has the key [key]”');
    problems.splice(0); // the browser logs a refused request
    await page.getByTestId('settings-key').fill(key);
    await page.getByTestId('settings-list').click();
    await page.locator('[data-testid=settings-said][data-ok=true]').waitFor();
    await expect.poll(() => page.locator('[data-testid=settings-models] option').count()).toBe(2);
    await page.getByTestId('settings-test').click();
    await page.getByText('Connected: the answer').waitFor();
    await page.getByTestId('keep-vault').check();
    await page.getByTestId('settings-passphrase').fill('a long passphrase');
    await shoot(page, 'model-hosted');
    expect(await violationsInBoth(page)).toEqual([]);
    expect(await tooWide(page)).toEqual([]);
    await page.getByTestId('settings-save').click();
    await page.getByTestId('settings-dialog').waitFor({ state: 'hidden' });
    expect(await ask(page, 'Good morning')).toContain('large read');
    await page.reload();
    expect(await page.getByTestId('key-notice').textContent()).toContain('Open the vault');
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(key);
    await page.getByRole('button', { name: 'Open the vault' }).click();
    await page.getByTestId('settings-passphrase').fill('wrong words');
    await page.getByTestId('settings-save').click();
    await page.locator('[data-testid=settings-passphrase][aria-invalid=true]').waitFor();
    await page.getByTestId('settings-passphrase').fill('a long passphrase');
    await page.getByTestId('settings-save').click();
    await page.getByTestId('settings-dialog').waitFor({ state: 'hidden' });
    expect(await ask(page, 'Good evening')).toContain('Good evening');
    expect(problems).toEqual([]);
  });

  it('is quoted where it refuses a run, with the code folded', async () => {
    const server = await startModelServer({ models: ['large'], keys: new Set([key]) });
    servers.push(server);
    const { page } = await open();
    await fill(page, { model: 'nope' });
    await page.getByTestId('settings-base-url').fill(`${server.origin}/v1`);
    await page.getByTestId('settings-save').click();
    await ask(page, 'Good morning');
    expect(await page.getByTestId('callout-said').textContent()).toBe(
      'The provider said: “The model "nope" does not exist”',
    );
    expect(await page.getByTestId('error-callout').getByText('invalid_argument').isVisible()).toBe(false);
    await shoot(page, 'model-refused');
    expect(await violationsInBoth(page)).toEqual([]);
    expect(await tooWide(page)).toEqual([]);
  });

  it.each(
    [
      [400, "This model's maximum context length is 8192 tokens", 'This chat is too long for the model', 'new-chat'],
      [404, 'No such model here', 'The server does not have this model', 'settings'],
      [429, 'You exceeded your current quota', 'The account has no quota left', 'settings'],
    ] as const,
  )('says what is wrong by its words: %i, %s', async (status, words, title, remedy) => {
    const server = await startModelServer({ models: ['large'], refuses: [status, words] });
    servers.push(server);
    const { page } = await open();
    await fill(page);
    await page.getByTestId('settings-base-url').fill(`${server.origin}/v1`);
    await page.getByTestId('settings-save').click();
    await ask(page, 'Good morning');
    await page.getByTestId('callout-said').getByText(words).waitFor();
    await page.getByTestId('error-callout').getByRole('heading', { name: title }).waitFor();
    expect(await page.locator('[data-testid=error-callout] button').first().getAttribute('data-testid'))
      .toBe(`remedy-${remedy}`);
  });

  it('keeps a key with the tab’s worker where that outlasts a reload', async () => {
    const context = await newContext({ lasting: true });
    const server = await startModelServer({ models: ['large'], keys: new Set([key]) });
    servers.push(server);
    const { page } = await open({ context });
    await fill(page);
    await page.getByTestId('settings-base-url').fill(`${server.origin}/v1`);
    await page.getByTestId('settings-save').click();
    expect(await ask(page, 'Good morning')).toContain('large read');
    await page.reload();
    await page.getByTestId('composer').waitFor();
    expect(await page.getByTestId('key-notice').count()).toBe(0);
    expect(await ask(page, 'Good evening')).toContain('Good evening');
  });
});

describe('the sign-in with OpenRouter', () => {
  /** Opens its window, at a server in its place. */
  async function startSignIn() {
    const context = await newContext();
    const server = await startOpenRouter();
    servers.push(server);
    await context.route('https://openrouter.ai/**', async (route) => {
      const url = route.request().url().replace('https://openrouter.ai', server.origin);
      await route.fulfill({ response: await route.fetch({ url, maxRedirects: 0 }) });
    });
    const opened = await open({ context });
    await choose(opened.page, 'endpoint');
    const [popup] = await Promise.all([
      context.waitForEvent('page'),
      opened.page.getByTestId('openrouter-sign-in').click(),
    ]);
    return { ...opened, popup, server };
  }

  it('gets a key without copying one, and a model answers', async () => {
    const { page, problems, popup, server } = await startSignIn();
    await shoot(page, 'model-openrouter');
    await Promise.all([popup.waitForEvent('close'), popup.getByText('Authorize').click()]);
    await page.locator('[data-testid=openrouter-state][data-state=done]').waitFor();
    expect(await page.getByTestId('settings-key').inputValue()).toBe([...server.keys][0]);
    expect(await page.getByTestId('settings-model').inputValue()).toBe('openrouter/auto');
    expect(await violationsInBoth(page)).toEqual([]);
    expect(await tooWide(page)).toEqual([]);
    await page.getByTestId('settings-save').click();
    await page.getByTestId('settings-dialog').waitFor({ state: 'hidden' });
    expect(await ask(page, 'Good morning')).toContain('openrouter/auto read');
    expect(problems).toEqual([]);
  });

  it('says when the person declines', async () => {
    const { page, popup } = await startSignIn();
    await popup.getByText('Decline').click();
    expect(await page.getByTestId('openrouter-problem').textContent()).toContain('canceled');
  });
});

describe('the menu of models', () => {
  it('changes the model in two clicks, without the key, and tests it', async () => {
    const key = 'sk-test-0123456789';
    const server = await startModelServer({ models: ['large', 'larger', 'small'], keys: new Set([key]) });
    servers.push(server);
    const { page, problems } = await open({ context: await newContext({ lasting: true }) });
    await choose(page, 'endpoint');
    await page.getByTestId('settings-base-url').fill(`${server.origin}/v1`);
    await page.getByTestId('settings-key').fill(key);
    await page.getByTestId('settings-test').click();
    await page.getByText('Enter the name of the model to test').waitFor();
    await page.getByTestId('settings-model').fill('large');
    await page.getByText('Enter the name of the model to test').waitFor({ state: 'detached' });
    await page.getByTestId('settings-save').click();
    await page.getByTestId('settings-dialog').waitFor({ state: 'hidden' });
    for (const model of ['larger', 'small']) {
      await page.getByTestId('model-badge').click();
      await page.getByTestId('model-row').getByText(model, { exact: true }).click();
      await page.getByTestId('model-badge').getByText(model, { exact: true }).waitFor();
      expect(await ask(page, `Good morning, ${model}`)).toContain(`${model} read`);
    }
    await page.getByTestId('model-badge').click();
    expect(await page.getByTestId('model-row').allTextContents()).toEqual([
      expect.stringMatching(/^small/),
      expect.stringMatching(/^larger/),
      expect.stringMatching(/^large/),
      expect.stringMatching(/^Scripted demo/),
    ]);
    await page.getByTestId('model-test').click();
    await page.getByTestId('model-said').getByText('small answers').waitFor();
    await shoot(page, 'model-menu');
    expect(await violationsInBoth(page)).toEqual([]);
    expect(await tooWide(page)).toEqual([]);
    await page.getByTestId('model-search').fill('larg');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByTestId('model-badge').getByText('large', { exact: true }).waitFor();
    await page.reload();
    await page.getByTestId('model-badge').getByText('large', { exact: true }).waitFor();
    expect(await ask(page, 'Good night')).toContain('large read');
    await page.getByTestId('model-badge').click();
    await page.getByTestId('model-other').click();
    await page.getByText('is stored. Leave this empty to keep it.').waitFor();
    await page.getByTestId('settings-model').fill('small');
    await page.getByTestId('settings-save').click();
    await page.getByTestId('model-badge').getByText('small', { exact: true }).waitFor();
    expect(problems).toEqual([]);
  });
});
