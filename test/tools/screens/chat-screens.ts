import { keepLongChat } from '../browsers/long-chat.ts';
import { send } from '../browsers/playground.ts';
import { first, next, type Screen, type ScreenName } from './screen.ts';
import { choose, clicks, ended } from './ways.ts';

const question = 'How many days are between 2026-03-01 and 2026-10-15?';

/** The chat, what lies over it, and the runs that it leads to. */
export const chatScreens = {
  'chat-welcome': first('The welcome', () => Promise.resolve()),
  'chat-answer': next('An answer with a tool call', async (page) => {
    await send(page, question);
    await ended(page);
    await page.getByTestId('tool-card').first().locator('.tool-head').click();
  }),
  'share': next('Share a chat as a link', async (page) => {
    await page.getByTestId('chat-more').first().click();
    await page.getByTestId('share-chat-link').click();
    await page.getByTestId('chat-link').waitFor();
  }),
  'run-timeline': next('A run as a waterfall of its spans', async (page) => {
    await page.getByTestId('share-close').click();
    await page.getByTestId('inspect').click();
    await page.getByTestId('span-row').nth(3).click();
    await page.getByTestId('span-details').waitFor();
  }),
  'run-table': next('The same spans as a table', clicks('as-table', 'span-table')),
  'run-steps': next('The steps of a run', clicks('run-tab-steps', 'step')),
  'fork-form': next('What to change before a fork', async (page) => {
    await page.getByTestId('fork-here').nth(1).click();
    await page.getByTestId('fork-form').waitFor();
  }),
  'fork-comparison': next('A fork beside its run', async (page) => {
    await page.getByTestId('fork-output').fill('{ "value": 99 }');
    await page.getByTestId('fork-start').click();
    await page.locator('[data-testid=fork-comparison][data-state=completed]').waitFor();
    await page.getByTestId('fork-total').nth(1).getByText('token').waitFor();
  }),
  'run-events': next('A run’s events', async (page) => {
    await page.getByTestId('fork-close').click();
    await page.getByTestId('run-tab-events').click();
    await page.getByTestId('event-row').nth(2).click();
    await page.getByTestId('event-details').waitFor();
  }),
  'run-tools': next('The tools of a run with their reasons', clicks('run-tab-tools', 'tools-view')),
  'run-prompt': next('The prompt of a run', clicks('run-tab-prompt', 'prompt-tool')),
  'run-usage': next('A run’s time and tokens', clicks('run-tab-usage', 'usage-step')),
  'evals': next('Test cases and their report', async (page) => {
    await page.getByTestId('save-case').click();
    await page.getByTestId('open-evals').click();
    await page.getByTestId('eval-run').click();
    await page.getByTestId('eval-totals').waitFor();
    await page.getByTestId('eval-case').locator('summary').first().click();
  }),
  'runs-list': next('The runs', clicks('runs-tab-list', 'run-row')),
  'waiting': next('What waits for you', clicks('open-waiting', 'inbox-empty')),
  'settings-page': next('Settings: colors, storage and network activity', clicks('open-settings', 'holding')),
  'privacy-erase': next('Confirmation before erasing all data', clicks('erase', 'erase-question')),
  'switcher': next('The command palette', async (page) => {
    await page.getByTestId('settings-page-back').click();
    await page.getByTestId('open-switcher').click();
    await page.getByTestId('switcher-query').waitFor();
  }),
  'keys': first('The keys of the page', async (page) => {
    await page.getByTestId('composer').blur();
    await page.keyboard.press('?');
    await page.getByTestId('keys').waitFor();
  }),
  'chat-settings': first('The settings of a chat', async (page) => {
    await page.keyboard.press('Alt+s');
    await page.getByTestId('chat-settings-instructions').fill('Answer in French.');
    await page.getByText('Sampling and length').click();
    await page.getByTestId('chat-settings-temperature').fill('3');
  }),
  'chat-versions': first('An edited message with its versions', async (page) => {
    await send(page, 'What is 6 * 7?');
    await ended(page);
    await page.getByTestId('edit-question').click();
    await page.getByTestId('edit-text').fill('What is 6 * 8?');
    await page.keyboard.press('Enter');
    await page.getByTestId('version').waitFor();
    await ended(page);
  }),
  'drawer': first('The chats on a phone', clicks('open-drawer', 'new-chat'), { isNarrow: true }),
  'chat-failed-tool': first('A tool that fails', async (page) => {
    await choose(page, 'drill');
    await send(page, 'Call flaky with mode "error"');
    await ended(page);
  }),
  'chat-program': first('A program with its calls and its code', async (page) => {
    await choose(page, 'quartermaster');
    await send(page, 'Add a note "Buy rope" and add a note "Coil the old rope"');
    await ended(page);
    await page.getByTestId('program-code').click();
    await page.locator('.code-block .token-kwd').first().waitFor();
  }),
  'chat-program-waiting': next('A program that waits for decisions', async (page) => {
    await send(page, 'Delete every note about "rope"');
    await page.locator('[data-testid=program][data-state=suspended]').waitFor();
    await page.getByTestId('approval').nth(1).waitFor();
  }),
  'chat-approval': first('An approval', async (page) => {
    await choose(page, 'logbook');
    await page.getByTestId('suggestion').getByText('overboard').click();
    await page.getByTestId('approve').waitFor();
  }),
  'chat-find': first('Search results in a long chat', async (page) => {
    await keepLongChat(page, 60);
    await page.locator('.chat-open').click();
    await page.getByTestId('answer-footer').last().waitFor();
    await page.keyboard.press('Control+f');
    await page.getByTestId('find-query').fill('leg 1');
    await page.getByTestId('find-count').getByText('11 of 11').waitFor();
  }),
  'settings': first('The model’s settings', clicks('model-badge', 'settings-dialog')),
  'settings-endpoint': next('A custom model with an error', async (page) => {
    await page.getByTestId('settings-endpoint').check();
    await page.getByTestId('settings-base-url').fill('http://models.example/v1');
    await page.getByTestId('settings-save').click();
    await page.locator('[aria-invalid=true]').first().waitFor();
  }),
  'settings-pinnace': next('A Pinnace server', async (page) => {
    await page.getByTestId('settings-pinnace').check();
    await page.getByTestId('settings-url').waitFor();
  }),
  'tour-start': first('The start of the tour', clicks('open-tour', 'tour-start')),
  'tour-under-way': next('A stop of the tour', clicks('tour-start', 'tour-how')),
  'chat-plan': first('A plan and its agents', async (page) => {
    await choose(page, 'commodore');
    await send(page, 'Calculate 1250 * 12; convert 5 knots to km/h');
    await page.locator('[data-testid=plan][data-state=done]').waitFor();
    await page.getByTestId('send').waitFor();
  }),
  'chat-plan-list': next('The same plan as a list', (page) => page.getByTestId('plan-view-list').click()),
  'chat-plan-question': first('A plan with a question', async (page) => {
    await choose(page, 'commodore');
    await send(page, 'Calculate 6 * 7; ask me which port we sail for');
    await page.locator('[data-testid=plan][data-state=suspended]').waitFor();
    await page.getByTestId('send').waitFor();
  }),
} satisfies Partial<Record<ScreenName, Screen>>;
