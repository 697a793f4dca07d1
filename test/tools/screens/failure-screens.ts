import { send } from '../browsers/playground.ts';
import { first, next, type Screen, type ScreenName } from './screen.ts';
import { ended } from './ways.ts';

const model = 'https://models.example/v1';

/** What is said where something is missing. */
export const failureScreens = {
  'failure-screen': first('A screen that failed to load', async (page) => {
    await page.route('**/assets/registry-screen*', (route) => route.abort());
    await page.getByTestId('open-registry').click();
    await page.getByTestId('screen-failure').waitFor();
  }, { isBroken: true }),
  'failure-storage': first('A browser without storage', async (page, { playground }) => {
    await page.addInitScript(() => Object.defineProperty(globalThis, 'indexedDB', { value: undefined }));
    await page.goto(playground);
    await send(page, 'What is 6 * 7?');
    await page.getByTestId('storage-notice').waitFor();
    await ended(page);
  }, { isBroken: true }),
  'chat-error': first('A model that does not respond', async (page) => {
    await page.getByTestId('model-badge').click();
    await page.getByTestId('settings-endpoint').check();
    await page.getByTestId('settings-base-url').fill(model);
    await page.getByTestId('settings-model').fill('large');
    await page.getByTestId('settings-key').fill('key');
    await page.context().route(`${model}/**`, (route) => route.fulfill({ status: 401, json: {} }));
    await page.getByTestId('settings-save').click();
    await page.getByTestId('settings-dialog').waitFor({ state: 'detached' });
    await send(page, 'What is 6 * 7?');
    await page.getByTestId('error-callout').waitFor();
  }, { isBroken: true }),
  'failure-key': next('A key that was not saved', async (page) => {
    await page.reload();
    await page.getByTestId('key-notice').waitFor();
  }),
} satisfies Partial<Record<ScreenName, Screen>>;
