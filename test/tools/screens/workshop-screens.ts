import { Buffer } from 'node:buffer';
import { first, next, type Screen, type ScreenName } from './screen.ts';
import { clicks } from './ways.ts';

/** An agent with a host and a secret. */
const shared = {
  format: 'pinnace-catalog',
  formatVersion: 1,
  providers: [{
    id: 'lab',
    kind: 'openai-compatible',
    baseUrl: 'https://lab.example.com/v1',
    secret: { id: 'lab' },
  }],
  agents: [{ id: 'own', name: 'Own', providerId: 'lab', instructions: 'Be kind.' }],
};

const sharedChat = {
  format: 'pinnace-chat',
  formatVersion: 1,
  title: 'How far is a marathon?',
  agent: { id: 'navigator', name: 'Navigator' },
  messages: [
    { role: 'user', text: 'Convert 26.2 miles to kilometers', files: ['route.gpx'] },
    {
      role: 'assistant',
      model: 'gpt-5',
      parts: [
        { type: 'tool', title: 'Convert units', state: 'result', input: '{"value":26.2,"from":"mi","to":"km"}' },
        { type: 'text', text: '26.2 miles are **42.16 km**.\n\n| mi | km |\n| -- | -- |\n| 26.2 | 42.16 |' },
      ],
    },
  ],
};

/** The part of a link that holds an agent, or with another mark something else. */
export async function linkTo(document: object, mark = '#agent='): Promise<string> {
  const packed = new Blob([JSON.stringify(document)]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  return `${mark}${Buffer.from(await new Response(packed).arrayBuffer()).toString('base64url')}`;
}

/** Where agents are made and shared. */
export const workshopScreens = {
  'agent-new': first('A new agent', async (page) => {
    await page.getByTestId('new-agent').click();
    await page.getByTestId('field-name').fill('Own');
  }),
  'agent-tools': next('A new agent: its tools', async (page) => {
    await page.getByTestId('bench').click();
  }),
  'agent-provider': next('A new agent: connect a model', async (page) => {
    await page.locator('summary', { hasText: 'Model' }).first().click();
    await page.getByTestId('make-provider').click();
    await page.getByTestId('field-baseUrl').waitFor();
  }),
  'agent-http': next('An HTTP tool with its request', async (page) => {
    await page.getByTestId('record-discard').click();
    await page.getByTestId('make-http').click();
    await page.getByTestId('http-url').fill('https://api.example.com/{id}');
    await page.getByTestId('trial-preview').click();
    await page.getByTestId('trial-request').waitFor();
  }),
  'agent-code': next('A code tool with an error', async (page) => {
    await page.getByTestId('record-discard').click();
    await page.getByTestId('make-code').click();
    await page.getByTestId('code-editor').fill('return (1');
    await page.locator('[data-testid=code-mark][data-line]').waitFor();
  }),
  'agent-saved': next('A saved agent with its link', async (page) => {
    await page.getByTestId('record-discard').click();
    await page.getByTestId('record-save').click();
    await page.locator('[data-testid=share][data-ready=true]').waitFor();
  }),
  'link': first('An agent from a link', async (page, { playground }) => {
    await page.goto(`${playground}${await linkTo(shared)}`);
    await page.getByTestId('link-accept').waitFor();
  }),
  'shared': first('A chat from a link', async (page, { playground }) => {
    await page.goto(`${playground}${await linkTo(sharedChat, '#chat=')}`);
    await page.getByTestId('shared-keep').waitFor();
  }),
  guard: first('The same agent against an attack, at three levels', async (page) => {
    await page.evaluate(() => (location.hash = '#/guard'));
    await page.getByTestId('attack-bill').click();
    await page.getByTestId('level-guarded').getByTestId('verdict').waitFor();
  }),
  'runs-empty': first('No runs yet', clicks('open-runs', 'runs-empty')),
} satisfies Partial<Record<ScreenName, Screen>>;
