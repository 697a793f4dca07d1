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

/** The part of a link that holds an agent. */
export async function linkTo(document: object): Promise<string> {
  const packed = new Blob([JSON.stringify(document)]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  return `#agent=${Buffer.from(await new Response(packed).arrayBuffer()).toString('base64url')}`;
}

const step = (name: string, ready = 'builder-page') => clicks(`builder-step-${name}`, ready);

/** Where agents are made, shared and compared. */
export const workshopScreens = {
  'builder-about': first('A new agent: what it does', async (page) => {
    await page.getByTestId('new-agent').click();
    await page.getByTestId('field-name').fill('Own');
  }),
  'builder-model': next('A new agent: its model', step('model', 'make-provider')),
  'builder-provider': next('A new agent: connect a model', clicks('make-provider', 'side-form')),
  'builder-tools': next('A new agent: its tools', async (page) => {
    await page.getByTestId('side-leave').click();
    await step('tools', 'bench')(page);
    await page.getByTestId('bench').click();
  }),
  'builder-http': next('An HTTP tool with its request', async (page) => {
    await page.getByTestId('make-http').click();
    await page.getByTestId('http-url').fill('https://api.example.com/{id}');
    await page.getByTestId('trial-preview').click();
    await page.getByTestId('trial-request').waitFor();
  }),
  'builder-code': next('A code tool with an error', async (page) => {
    await page.getByTestId('side-leave').click();
    await page.getByTestId('make-code').click();
    await page.getByTestId('code-editor').fill('return (1');
    await page.locator('[data-testid=code-mark][data-line]').waitFor();
  }),
  'builder-limits': next('A new agent: limits and secrets', async (page) => {
    await page.getByTestId('side-leave').click();
    await step('limits', 'vault')(page);
  }),
  'builder-try': next('A new agent: try and share', step('try', 'builder-save')),
  'builder-saved': next('A saved agent with its link', async (page) => {
    await page.getByTestId('builder-save').click();
    await page.locator('[data-testid=share][data-ready=true]').waitFor();
  }),
  'compare': first('Compare two agents', async (page) => {
    await page.getByTestId('compare').click();
    await page.getByTestId('side-instructions').nth(1).waitFor();
  }),
  'compare-answers': next('Two answers side by side', async (page) => {
    await page.getByTestId('compare-text').fill('What is 6 * 7?');
    await page.getByTestId('compare-text').press('Enter');
    await page.getByTestId('answer-footer').nth(1).waitFor();
    await page.getByTestId('compare-send').waitFor();
  }),
  'link': first('An agent from a link', async (page, { playground }) => {
    await page.goto(`${playground}${await linkTo(shared)}`);
    await page.getByTestId('link-accept').waitFor();
  }),
  'runs-empty': first('No runs yet', clicks('open-inspector', 'runs-empty')),
} satisfies Partial<Record<ScreenName, Screen>>;
