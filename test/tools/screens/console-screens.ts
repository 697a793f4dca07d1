import type { Page } from 'playwright';
import { chooseEndpoint } from '../servers/endpoint-page.ts';
import { send } from '../browsers/playground.ts';
import { first, next, type Screen, type ScreenName } from './screen.ts';
import { choose, clicks, ended } from './ways.ts';

/** Answers requests to the endpoint in its place. */
async function answers(page: Page, path: string, { status, code }: { status: number; code: string }): Promise<void> {
  const headers = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' };
  const problem = {
    type: `urn:pinnace:problem:${code}`,
    title: 'Refused',
    status,
    code,
    detail: 'The scope "admin" is missing',
    retryable: false,
    serverTime: new Date().toISOString(),
    traceId: '0'.repeat(32),
  };
  await page.route(path, (route) => route.fulfill({ status, headers, json: problem }));
}

/** The console at a working endpoint, without permission, and without an answer. */
export const consoleScreens = {
  'console-nowhere': first('The console without an endpoint', async (page) => {
    await page.keyboard.press('Alt+c');
    await page.getByTestId('console-nowhere').waitFor();
  }),
  'console-registry': next('The registry of an endpoint', async (page, { endpoint }) => {
    await page.getByTestId('console-back').click();
    await chooseEndpoint(page, endpoint);
    await choose(page, 'commodore');
    await send(page, 'Calculate 6 * 7; ask me which port we sail for');
    await page.locator('[data-testid=plan][data-state=suspended]').waitFor();
    await ended(page);
    await page.getByTestId('open-console').click();
    await page.locator('[data-testid=registry-row][data-id=drill]').click();
    await page.getByTestId('registry-switch').click(); // the audit holds what changes something
    await page.getByTestId('registry-switch').getByText('Enable').waitFor();
    await page.getByTestId('console-back').click();
    await page.getByTestId('console-ready').waitFor();
  }),
  'console-runs': next('The runs at an endpoint', clicks('console-tab-runs', 'console-run')),
  'console-plans': next('The plans at an endpoint', clicks('console-tab-plans', 'console-plan')),
  'console-plan': next('The controls of a plan at an endpoint', clicks('console-plan', 'console-plan-view')),
  'console-audit': next('The audit with its verification', async (page) => {
    await page.getByTestId('console-tab-audit').click();
    await page.getByTestId('console-audit-entry').first().waitFor();
    await page.getByTestId('console-verify').click();
    await page.getByTestId('console-verification').getByText('Intact').waitFor();
  }),
  'console-metrics': next('The metrics of an endpoint', clicks('console-tab-metrics', 'console-plot')),
  'console-refused': first('A page without permission', async (page, { endpoint }) => {
    await answers(page, `${endpoint}/v1/events*`, { status: 403, code: 'forbidden' });
    await chooseEndpoint(page, endpoint);
    await page.getByTestId('open-console').click();
    await page.getByTestId('console-tab-runs').click();
    await page.getByTestId('console-refusal').waitFor();
  }, { isBroken: true }),
  'console-unreachable': first('An endpoint that does not respond', async (page, { endpoint }) => {
    await chooseEndpoint(page, endpoint);
    await page.route(`${endpoint}/**`, (route) => route.abort());
    await page.getByTestId('open-console').click();
    await page.getByTestId('console-tab-audit').click();
    await page.getByTestId('console-refusal').waitFor();
  }, { isBroken: true }),
} satisfies Partial<Record<ScreenName, Screen>>;
