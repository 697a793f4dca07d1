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

/** What fills the charts: runs with tool calls, and a request that is rejected: the agent was disabled before. */
const workload = [
  ['navigator', 'Convert 26.2 miles to kilometers'],
  ['navigator', 'Calculate 1250 * 12, and what time is it in Tokyo?'],
  ['drill', 'Call flaky with mode "error"'],
  ['navigator', 'How many days are between 2026-11-20 and 2026-12-24?'],
] as const;

/** A server's agents and runs: at work, without permission, and without an answer. */
export const consoleScreens = {
  'server-none': first('The runs of a server, with none connected', async (page) => {
    await page.evaluate(() => (location.hash = '#/runs/audit'));
    await page.getByTestId('server-none').waitFor();
  }),
  'server-agents': next('The agents of a server', async (page, { endpoint }) => {
    await page.getByTestId('runs-back').click();
    await chooseEndpoint(page, endpoint);
    await choose(page, 'commodore');
    await send(page, 'Calculate 6 * 7; ask me which port we sail for');
    await page.locator('[data-testid=plan][data-state=suspended]').waitFor();
    await ended(page);
    await page.getByTestId('open-agents').click();
    await page.locator('[data-testid=registry-row][data-id=drill]').click();
    await page.getByTestId('registry-switch').click(); // the audit holds what changes something
    await page.getByTestId('registry-switch').getByText('Enable').waitFor();
    await page.getByTestId('agents-back').click();
    await page.getByTestId('registry-row').first().waitFor();
  }),
  'server-list': next('The runs of a server', clicks('open-runs', 'run-row')),
  'server-schedules': next('The schedules of a server', clicks('runs-tab-schedules', 'schedules-empty')),
  'server-plans': next('The plans of a server', clicks('runs-tab-plans', 'console-plan')),
  'server-plan': next('The controls of a plan at a server', clicks('console-plan', 'console-plan-view')),
  'server-audit': next('The audit log with its verification', async (page) => {
    await page.getByTestId('runs-tab-audit').click();
    await page.getByTestId('console-audit-entry').first().waitFor();
    await page.getByTestId('console-verify').click();
    await page.getByTestId('console-verification').getByText('Intact').waitFor();
  }),
  'server-metrics': next('The metrics of a server', async (page) => {
    await page.getByTestId('runs-tab-metrics').click();
    const read = page.locator('.console-chart-time').first();
    for (const [agent, text] of workload) {
      const before = await read.innerText();
      await page.keyboard.press('Alt+n');
      await choose(page, agent);
      await send(page, text);
      await ended(page);
      await page.getByTestId('open-runs').click();
      await page.getByTestId('runs-tab-metrics').click();
      await read.filter({ hasNotText: before }).waitFor(); // the metrics were read once more
    }
  }),
  'server-refused': first('A page without permission', async (page, { endpoint }) => {
    await answers(page, `${endpoint}/v1/events*`, { status: 403, code: 'forbidden' });
    await chooseEndpoint(page, endpoint);
    await page.getByTestId('open-runs').click();
    await page.getByTestId('console-refusal').waitFor();
  }, { isBroken: true }),
  'server-unreachable': first('A server that does not respond', async (page, { endpoint }) => {
    await chooseEndpoint(page, endpoint);
    await page.route(`${endpoint}/**`, (route) => route.abort());
    await page.getByTestId('open-runs').click();
    await page.getByTestId('runs-tab-audit').click();
    await page.getByTestId('console-refusal').waitFor();
  }, { isBroken: true }),
} satisfies Partial<Record<ScreenName, Screen>>;
