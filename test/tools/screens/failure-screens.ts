import { send } from '../browsers/playground.ts';
import { first, next, type Screen, type ScreenName } from './screen.ts';
import { connectModel, ended } from './ways.ts';

const model = 'https://models.example/v1';

/** What is said where something is missing. */
export const failureScreens = {
  'failure-screen': first('A screen that failed to load', async (page) => {
    await page.route('**/assets/agents-screen*', (route) => route.abort());
    await page.getByTestId('open-agents').click();
    await page.getByTestId('screen-failure').waitFor();
  }, { isBroken: true }),
  'failure-storage': first('A browser without storage', async (page, { playground }) => {
    await page.addInitScript(() => Object.defineProperty(globalThis, 'indexedDB', { value: undefined }));
    await page.goto(playground);
    await send(page, 'What is 6 * 7?');
    await page.getByTestId('storage-notice').waitFor();
    await ended(page);
  }, { isBroken: true }),
  'chat-retry': first('A busy model: the next try with its countdown', async (page, { servers }) => {
    await connectModel(page, { baseUrl: await servers.busyModel(), model: 'small' });
    await send(page, 'Good morning');
    await page.getByTestId('retry-line').getByTestId('callout-said').waitFor();
  }, { isBroken: true }),
  'chat-error': first('A model that does not respond', async (page) => {
    await page.context().route(`${model}/**`, (route) => route.fulfill({ status: 401, json: {} }));
    await connectModel(page, { baseUrl: model, model: 'large' });
    await send(page, 'What is 6 * 7?');
    await page.getByTestId('error-callout').waitFor();
  }, { isBroken: true }),
  'failure-key': next('A key that was not saved', async (page) => {
    await page.reload();
    await page.getByTestId('key-notice').waitFor();
  }),
} satisfies Partial<Record<ScreenName, Screen>>;
