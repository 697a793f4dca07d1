import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { violations } from '../tools/axe.ts';
import { keepLongChat } from '../tools/long-chat.ts';
import { send, usePlayground } from '../tools/playground.ts';

const { open } = usePlayground();
/** An agent with a host and a secret. */
const agentLink = linkTo({
  format: 'pinnace-catalog',
  formatVersion: 1,
  providers: [{
    id: 'lab',
    kind: 'openai-compatible',
    baseUrl: 'https://lab.example/v1',
    secret: { id: 'lab' },
  }],
  agents: [{ id: 'own', name: 'Own', providerId: 'lab', instructions: 'Be kind.' }],
});

/** The part of a link that holds an agent. */
async function linkTo(document: object): Promise<string> {
  const packed = new Blob([JSON.stringify(document)]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  return `#agent=${Buffer.from(await new Response(packed).arrayBuffer()).toString('base64url')}`;
}

const chooses = (agent: string) => (page: Page) =>
  page.locator(`[data-testid=agent-card][data-agent=${agent}]`).click();
/** The tab of a run that the agent has just made. */
const inspects = (tab: string, ready: string) => async (page: Page) => {
  await send(page, 'What is 6 * 7?');
  await ends(page);
  await page.getByTestId('inspect').click();
  await page.getByTestId('span-row').nth(3).click();
  await page.getByTestId(`run-tab-${tab}`).click();
  await page.getByTestId(ready).first().waitFor();
};
const opensSection = (section: string) => async (page: Page): Promise<void> => {
  await page.getByTestId('open-registry').click();
  await page.getByTestId(`registry-tab-${section}`).click();
};
const ends = (page: Page) => page.getByTestId('answer-footer').waitFor();

/** Every screen: its name, and the way there. */
const screens: readonly (readonly [name: string, go: (page: Page) => Promise<void>])[] = [
  ['the welcome', () => Promise.resolve()],
  ['an answer with a tool call', async (page) => {
    await send(page, 'What is 6 * 7?');
    await ends(page);
    await page.getByTestId('tool-card').click();
  }],
  ['a failing tool', async (page) => {
    await chooses('drill')(page);
    await send(page, 'Call the flaky tool until it fails');
    await ends(page);
  }],
  ['an approval', async (page) => {
    await chooses('logbook')(page);
    await page.getByTestId('suggestion').getByText('overboard').click();
    await page.getByTestId('approve').waitFor();
  }],
  ['the settings', (page) => page.getByTestId('model-badge').click()],
  ['the command palette', (page) => page.keyboard.press('Control+k')],
  ['the tour, and where to look', async (page) => {
    await page.getByTestId('open-tour').click();
    await page.getByTestId('tour-begin').click();
    await page.getByTestId('tour-how').waitFor();
  }],
  ['a long chat, and what was found in it', async (page) => {
    await keepLongChat(page, 60);
    await page.locator('.chat-open').click();
    await page.getByTestId('answer-footer').last().waitFor();
    await page.keyboard.press('Control+f');
    await page.getByTestId('find-query').fill('leg 1');
    await page.getByTestId('find-count').getByText('11 of 11').waitFor();
  }],
  ['the tree', async (page) => {
    await page.getByTestId('open-tree').click();
    await page.getByRole('treeitem').first().waitFor();
  }],
  ['the knowledge without files', async (page) => {
    await page.getByTestId('open-knowledge').click();
    await page.getByTestId('knowledge-empty').waitFor();
  }],
  ['files, and what was found in them', async (page) => {
    await page.getByTestId('open-knowledge').click();
    await page.getByTestId('knowledge-guide').click();
    await page.locator('[data-testid=knowledge-file][data-state=ready]').nth(5).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByTestId('knowledge-search').fill('approval');
    await page.getByTestId('knowledge-why').first().locator('summary').click();
  }],
  ['an answer that cites, and its source', async (page) => {
    await chooses('almanac')(page);
    await page.getByTestId('suggestion').first().click();
    await ends(page);
    await page.getByTestId('citation').first().click();
    await page.locator('[data-testid=knowledge-part][data-place=true]').waitFor();
  }],
  ['the registry', async (page) => {
    await page.getByTestId('open-registry').click();
    await page.getByTestId('registry-row').first().waitFor();
  }],
  ['an agent’s page', async (page) => {
    await page.getByTestId('open-registry').click();
    await page.locator('[data-testid=registry-row][data-id=navigator]').click();
    await page.getByTestId('record-page').waitFor();
  }],
  ['an agent’s form', async (page) => {
    await page.getByTestId('open-registry').click();
    await page.locator('[data-testid=registry-row][data-id=navigator]').click();
    await page.getByTestId('record-edit').click();
    await page.getByTestId('field-instructions').waitFor();
  }],
  ['the runs', async (page) => {
    await send(page, 'What is 6 * 7?');
    await ends(page);
    await page.getByTestId('open-inspector').click();
    await page.getByTestId('run-row').waitFor();
  }],
  ['a run’s timeline', inspects('timeline', 'span-details')],
  ['a run’s events', inspects('events', 'event-row')],
  ['a run’s tools', inspects('tools', 'tools-view')],
  ['a run’s prompt', inspects('prompt', 'prompt-tool')],
  ['a run’s time and tokens', inspects('usage', 'usage-step')],
  ['a run’s spans as a table', async (page) => {
    await inspects('timeline', 'as-table')(page);
    await page.getByTestId('as-table').click();
    await page.getByTestId('span-table').waitFor();
  }],
  ['an MCP server that is refused, then one that is there', async (page) => {
    await opensSection('mcpServer')(page);
    await page.getByTestId('record-new').click();
    await page.getByTestId('field-alias').fill('No good');
    await page.getByTestId('record-save').click();
    await page.getByTestId('help-alias').getByText('must be').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByTestId('field-alias').fill('docs');
    await page.getByTestId('field-url').fill('https://docs.example/mcp');
    await page.getByTestId('record-save').click();
    await page.getByTestId('record-remove').click();
    await page.getByTestId('removal').waitFor();
  }],
  ['the vault', async (page) => {
    await opensSection('vault')(page);
    await page.getByTestId('vault-passphrase').fill('correct horse');
    await page.getByTestId('vault-unlock').click();
    await page.getByTestId('vault-value').waitFor();
  }],
  ['import and export', async (page) => {
    await opensSection('transfer')(page);
    const charts = { id: 'charts', name: 'Charts', kind: 'text' };
    const catalog = { format: 'pinnace-catalog', formatVersion: 1, dataSources: [charts] };
    const buffer = Buffer.from(JSON.stringify(catalog));
    await page.getByTestId('import-file').setInputFiles({ name: 'c.json', mimeType: 'application/json', buffer });
    await page.getByTestId('import-report').waitFor();
  }],
  ['what is kept, and the question before it is erased', async (page) => {
    await send(page, 'What is 6 * 7?');
    await ends(page);
    await page.getByTestId('open-privacy').click();
    await page.getByTestId('holding').first().waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByTestId('erase').click();
    await page.getByTestId('erase-question').waitFor();
  }],
  ['the making of an agent', async (page) => {
    await page.getByTestId('new-agent').click();
    await page.getByTestId('field-name').fill('Own');
    expect(await violations(page)).toEqual([]);
    await page.getByTestId('builder-step-tools').click();
    await page.getByTestId('bench').click();
    expect(await violations(page)).toEqual([]);
    await page.getByTestId('builder-step-try').click();
    await page.getByTestId('builder-save').click();
    await page.locator('[data-testid=share][data-ready=true]').waitFor();
  }],
  ['an HTTP tool that is made', async (page) => {
    await page.getByTestId('new-agent').click();
    await page.getByTestId('builder-step-tools').click();
    await page.getByTestId('make-http').click();
    await page.getByTestId('http-url').fill('https://api.example.com/{id}');
    await page.getByTestId('trial-preview').click();
    await page.getByTestId('trial-request').waitFor();
  }],
  ['a code tool that is made', async (page) => {
    await page.getByTestId('new-agent').click();
    await page.getByTestId('builder-step-tools').click();
    await page.getByTestId('make-code').click();
    await page.getByTestId('code-editor').fill('return (1');
    await page.locator('[data-testid=code-mark][data-line]').waitFor();
  }],
  ['two answers side by side', async (page) => {
    await page.getByTestId('compare').click();
    await page.getByTestId('side-vary').first().locator('summary').click();
    expect(await violations(page)).toEqual([]);
    await page.getByTestId('compare-text').fill('What is 6 * 7?');
    await page.getByTestId('compare-text').press('Enter');
    await page.getByTestId('answer-footer').nth(1).waitFor();
  }],
  ['an agent from a link', async (page) => {
    await page.goto(`${page.url().split('#')[0] ?? ''}${await agentLink}`);
    await page.getByTestId('link-accept').waitFor();
  }],
  ['a plan that is done', async (page) => {
    await chooses('commodore')(page);
    await send(page, 'Calculate 1250 * 12; convert 5 knots to km/h');
    await page.locator('[data-testid=plan][data-state=done]').waitFor();
    await page.getByTestId('send').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByTestId('plan-view-list').click();
  }],
  ['a plan that asks', async (page) => {
    await chooses('commodore')(page);
    await send(page, 'Calculate 6 * 7; ask me which port we sail for');
    await page.locator('[data-testid=plan][data-state=suspended]').waitFor();
  }],
];

describe.each([['light', false], ['dark', true]])('the playground in %s colours, to axe', (_, dark) => {
  it.each(screens)('has nothing wrong on %s, keeps to its policy and talks to nobody', async (_name, go) => {
    const { page, problems, strangers } = await open({ dark });
    await go(page);
    expect(await violations(page)).toEqual([]);
    expect({ problems, strangers }).toEqual({ problems: [], strangers: [] });
    await page.context().close();
  });
});
