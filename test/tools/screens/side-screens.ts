import { first, next, type Screen, type ScreenName } from './screen.ts';
import { choose, clicks, ended } from './ways.ts';

/** The screens beside the chat, and the files. */
export const sideScreens = {
  'tree': first('The tree', async (page) => {
    await page.keyboard.press('Alt+t');
    await page.getByRole('treeitem', { name: 'Northquay Yard' }).waitFor();
  }),
  'tree-found': next('Search results in the tree', async (page) => {
    await page.getByTestId('tree-search').fill('anchor');
    await page.getByTestId('tree-found').first().waitFor();
  }),
  'knowledge-empty': first('Files: none yet', clicks('open-files', 'knowledge-empty')),
  'files': next('Files: a list', async (page) => {
    await page.getByTestId('knowledge-guide').click();
    await page.locator('[data-testid=knowledge-file][data-state=ready]').nth(5).waitFor();
    await page.getByTestId('knowledge-read').nth(1).click();
  }),
  'knowledge-found': next('Search results in files with explanations', async (page) => {
    await page.getByTestId('files-back').click();
    await page.getByTestId('knowledge-search').fill('approval');
    await page.getByTestId('knowledge-why').first().locator('summary').click();
  }),
  'chat-cited': first('An answer with a citation and its source', async (page) => {
    await choose(page, 'almanac');
    await page.getByTestId('suggestion').first().click();
    await ended(page);
    await page.getByTestId('citation').first().click();
    await page.locator('[data-testid=knowledge-part][data-place=true]').waitFor();
  }),
} satisfies Partial<Record<ScreenName, Screen>>;
