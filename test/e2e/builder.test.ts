import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { usePlayground } from '../tools/playground.ts';

const { open, shoot } = usePlayground();

async function newTool(page: Page, type: string): Promise<void> {
  await page.getByTestId('open-registry').click();
  await page.getByTestId('registry-tab-tool').click();
  await page.getByTestId('record-new').click();
  await page.getByTestId('field-type').selectOption(type);
  await page.getByTestId('tool-work').waitFor();
}

describe('tools that are made in the built playground', () => {
  it('runs a code tool in the sandbox, and says where it threw', async () => {
    const { page, problems } = await open({ height: 1100 });
    await newTool(page, 'code');
    await page.getByTestId('field-name').fill('double');
    await page.getByTestId('field-description').fill('Doubles a number');
    await page.getByTestId('param-add').click();
    await page.getByTestId('code-editor').fill('const { input1 } = input;\n  missing();');
    await page.getByTestId('trial-call').click();
    await page.getByTestId('code-mark').getByText('Line 2, column 3').waitFor();
    expect(await page.getByTestId('trial-thrown').textContent()).toContain('missing is not defined');
    await page.getByTestId('trial').scrollIntoViewIfNeeded();
    await shoot(page, 'builder-code-threw');
    await page.getByTestId('code-editor').fill('return input.input1 + input.input1;');
    await page.getByTestId('trial-call').click();
    await page.locator('[data-testid=trial-result][data-ok=true]').getByText('texttext').waitFor();
    await shoot(page, 'builder-code');
    expect(problems).toEqual([]);
  });
});
