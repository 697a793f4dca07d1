import type { Page } from 'playwright';
import { reviewServer, saveRecord, startServer, useServer } from '../browsers/mcp-server.ts';
import { callSignedIn, signOut, useSignedInServer } from '../browsers/mcp-sign-in.ts';
import { send } from '../browsers/playground.ts';
import { first, next, type Screen, type ScreenName } from './screen.ts';

async function asked(page: Page, what: string): Promise<void> {
  await send(page, `Call harbor__ask with what "${what}"`);
  await page.getByTestId('question').waitFor();
}

/** What MCP servers bring into the registry and the chat. */
export const mcpScreens = {
  'mcp-review': first('The review of an MCP server', async (page, { servers }) => {
    await startServer(page, { id: 'everything', alias: 'every', url: await servers.everything() });
    await saveRecord(page);
    await reviewServer(page);
    await page.getByTestId('mcp-offer').first().evaluate((offer) => offer.scrollIntoView());
  }),
  'mcp-app': first('An app of an MCP server in a chat', async (page, { servers }) => {
    const reads = ['tides', 'refresh', 'report', 'attack', 'listed'];
    await useServer(page, { id: 'harbor', url: await servers.apps(), reads, apps: true });
    await send(page, 'Call harbor__tides with port "Brest"');
    const app = page.getByTestId('app-frame').contentFrame().frameLocator('iframe');
    await app.locator('#state').getByText('ready').waitFor();
    await page.getByTestId('answer-footer').waitFor();
    await page.getByTestId('app').evaluate((element) => element.scrollIntoView({ block: 'center' }));
  }),
  'mcp-question': first('A question of an MCP server', async (page, { servers }) => {
    await useServer(page, { id: 'harbor', url: await servers.questions(), reads: ['ask'] });
    await asked(page, 'form');
  }),
  'mcp-address': next('An address that an MCP server asks to open', async (page) => {
    await page.getByTestId('question-cancel').click();
    await page.getByTestId('question').waitFor({ state: 'detached' });
    await page.getByTestId('send').waitFor();
    await asked(page, 'address');
  }),
  'mcp-sign-in': first('A call that waits for a sign-in', async (page, { servers }) => {
    await useSignedInServer(page, await servers.signIn());
    await signOut(page);
    await callSignedIn(page);
    await page.getByTestId('sign-in-vault').waitFor();
  }),
} satisfies Partial<Record<ScreenName, Screen>>;
