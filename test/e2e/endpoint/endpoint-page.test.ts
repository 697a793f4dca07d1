import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { chooseEndpoint, type Served, serveWithEndpoint } from '../../tools/servers/endpoint-page.ts';
import { send, usePlayground } from '../../tools/browsers/playground.ts';

const { open, shoot } = usePlayground();
let served: Served;

beforeAll(async () => void (served = await serveWithEndpoint(inject('playgroundFolder'))));
afterAll(() => served.stop());

function origin(): string {
  return new URL(served.playground).origin;
}

/** Opens the playground and chooses the endpoint. */
async function openAtEndpoint(): Promise<{ page: Page; problems: string[] }> {
  const { page, problems } = await open({ dark: true, url: origin() });
  await chooseEndpoint(page, served.endpoint);
  return { page, problems };
}

async function certify(
  init: Omit<RequestInit, 'headers'> & { readonly headers: Record<string, string> },
  url = origin(),
): Promise<number> {
  const page = await fetch(url, { headers: { accept: 'text/html' } });
  const cookie = page.headers.get('set-cookie')?.split(';')[0] ?? '';
  const headers = { cookie, ...init.headers };
  const { status } = await fetch(`${url}/development/certificate`, { method: 'POST', body: '{}', ...init, headers });
  return status;
}

describe('the playground at an endpoint', () => {
  it('asks the endpoint with signed requests and shows its tool calls', async () => {
    const { page, problems } = await openAtEndpoint();
    expect(await page.getByTestId('model-badge').textContent()).toContain(new URL(served.endpoint).host);
    await send(page, 'What is 6 * 7?');
    await page.locator('[data-testid=tool-card][data-tool=calculator][data-state=result]').waitFor();
    await page.getByTestId('answer-footer').waitFor();
    const answer = page.locator('[data-testid=message][data-role=assistant]').last();
    expect(await answer.textContent()).toContain('42');
    await shoot(page, 'endpoint-answer');
    expect(served.process.output()).toContain('navigator');
    await page.getByTestId('inspect').last().click();
    await page.locator('[data-testid=run-view][data-live=false] [data-testid=span-row][data-name="tool.call"]')
      .waitFor();
    expect(await page.getByTestId('run-summary').textContent()).toContain('at an endpoint');
    await shoot(page, 'endpoint-run');
    expect(problems).toEqual([]);
  });

  it('decides there on a call that waits, also after a reload', async () => {
    const { page, problems } = await openAtEndpoint();
    await page.locator('[data-testid=agent-card][data-agent=logbook]').click();
    await page.getByTestId('suggestion').getByText('overboard').click();
    await page.getByTestId('approve').waitFor();
    await page.reload();
    await page.getByTestId('approve').click();
    await page.locator('[data-testid=tool-card][data-tool=notes_delete][data-state=result]').waitFor();
    expect(problems).toEqual([]);
  });

  it('cancels the run there when it is stopped', async () => {
    const { page } = await openAtEndpoint();
    const cancelled = page.waitForRequest((request) => request.method() === 'DELETE');
    await send(page, 'Write a long answer about tides');
    const answer = page.locator('[data-testid=message][data-role=assistant]').last();
    await answer.getByText(/(?:\w+\W+){8}/).first().waitFor(); // of the answer: whatever stands there before is shorter
    await page.getByTestId('stop').click();
    expect((await (await cancelled).response())?.ok()).toBe(true);
    expect(await page.getByTestId('stopped').textContent()).toContain('You stopped');
  });
});

describe('the development issuer', () => {
  it.each<[string, Parameters<typeof certify>[0], number]>([
    [
      'a page of another site',
      { headers: { origin: 'https://evil.example', 'content-type': 'application/json' } },
      403,
    ],
    ['a request without an origin', { headers: { 'content-type': 'application/json' } }, 403],
    ['a form', { headers: { 'content-type': 'text/plain' } }, 403],
  ])('refuses %s', async (_, init, status) => {
    expect(await certify(init)).toBe(status);
  });

  it('refuses what is no public key, other types and other methods', async () => {
    const headers = { origin: origin(), 'content-type': 'application/json' };
    expect(await certify({ headers })).toBe(400);
    expect(await certify({ headers, body: 'x'.repeat(5000) })).toBe(400);
    expect(await certify({ headers: { ...headers, 'content-type': 'text/plain' } })).toBe(415);
    expect(await certify({ headers, method: 'PUT' })).toBe(405);
  });
});
