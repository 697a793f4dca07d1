import type { Page } from 'playwright';
import { longAgent } from './long-names.ts';
import { first, next, type Screen, type ScreenName } from './screen.ts';
import { clicks } from './ways.ts';

const tab = (section: string, ready = 'registry-row') => clicks(`registry-tab-${section}`, ready);

async function importCatalog(page: Page, catalog: object): Promise<void> {
  const buffer = Buffer.from(JSON.stringify({ format: 'pinnace-catalog', formatVersion: 1, ...catalog }));
  await page.getByTestId('import-file').setInputFiles({ name: 'c.json', mimeType: 'application/json', buffer });
  await page.getByTestId('import-report').waitFor();
}

/** The registry, its records, the vault, and import and export. */
export const registryScreens = {
  'registry-agent': first('The registry: agents', clicks('open-agents', 'registry-row')),
  'record-page': next('An agent’s page', async (page) => {
    await page.locator('[data-testid=registry-row][data-id=navigator]').click();
    await page.getByTestId('record-page').waitFor();
  }),
  'record-form': next('An agent’s form', clicks('record-edit', 'field-instructions')),
  'registry-tool': next('The registry: tools', async (page) => {
    await page.getByTestId('agents-back').click();
    await page.getByTestId('agents-back').click();
    await tab('tool')(page);
  }),
  'record-tool': next('A tool’s page', clicks('registry-row', 'record-page')),
  'registry-mcpServer': next('The registry: MCP servers', async (page) => {
    await page.getByTestId('agents-back').click();
    await tab('mcpServer', 'record-new')(page);
  }),
  'record-refused': next('A rejected record', async (page) => {
    await page.getByTestId('record-new').click();
    await page.getByText('More settings').click();
    await page.getByTestId('field-alias').fill('No good');
    await page.getByTestId('record-save').click();
    await page.getByTestId('help-alias').getByText('must be').waitFor();
  }),
  'record-mcpServer': next('A registered MCP server', async (page, { servers }) => {
    await page.getByTestId('field-alias').fill('docs');
    await page.getByTestId('field-url').fill(await servers.everything());
    await page.getByTestId('record-save').click();
    await page.getByTestId('record-remove').waitFor();
    await page.getByTestId('mcp-report').waitFor(); // it is looked at when it is added
  }),
  'record-removal': next('Confirmation before removing a record', clicks('record-remove', 'removal')),
  'registry-provider': next('The registry: providers', async (page) => {
    await page.getByTestId('agents-back').click();
    await tab('provider')(page);
  }),
  'registry-dataSource': next('The registry: data sources', tab('dataSource')),
  'registry-vault': next('The vault, locked', tab('vault', 'vault-passphrase')),
  'vault-open': next('The vault, open', async (page) => {
    await page.getByTestId('vault-passphrase').fill('correct horse');
    await page.getByTestId('vault-unlock').click();
    await page.getByTestId('vault-name').fill('lab');
    await page.getByTestId('vault-value').fill('a long value');
    await page.getByTestId('vault-origins').fill('https://lab.example.com');
    await page.getByTestId('vault-set').click();
    await page.getByTestId('vault-secret').waitFor();
  }),
  'registry-transfer': next('Import and export', tab('transfer', 'export')),
  'transfer-report': next('Preview of an import', async (page) => {
    await importCatalog(page, { dataSources: [{ id: 'charts', name: 'Charts', kind: 'text' }], agents: [longAgent] });
  }),
  'chat-long-names': next('An agent with a very long name, in two scripts', async (page) => {
    await page.getByTestId('import-apply').click();
    await page.getByTestId('agents-back').click();
    await page.locator(`[data-testid=agent-card][data-agent=${longAgent.id}]`).click();
  }),
} satisfies Partial<Record<ScreenName, Screen>>;
