import { describe, expect, it } from 'vitest';
import { usePlayground } from '../../tools/browsers/playground.ts';

const { open, shoot } = usePlayground();

describe('the registry in the built playground', () => {
  it('says what is wrong with a change, keeps the right one over a reload', async () => {
    const { page, problems } = await open();
    await page.getByTestId('open-agents').click();
    await page.getByTestId('registry-row').first().waitFor();
    await shoot(page, 'registry-list');
    await page.locator('[data-testid=registry-row][data-id=navigator]').click();
    await page.getByTestId('record-page').waitFor();
    await shoot(page, 'registry-agent');
    await page.getByTestId('record-edit').click();
    await page.getByTestId('field-instructions').fill('x'.repeat(65_537));
    await page.getByTestId('record-save').click();
    await page.getByText('Instructions must be at most 65536 long.').waitFor();
    expect(await page.getByTestId('field-instructions').getAttribute('aria-invalid')).toBe('true');
    await page.getByTestId('field-instructions').fill('You are Navigator. Be brief.');
    await page.getByTestId('field-name').fill('Pilot');
    await shoot(page, 'registry-edit');
    await page.getByTestId('record-save').click();
    await page.getByTestId('record-page').waitFor();
    await page.reload();
    await page.getByTestId('record-page').waitFor(); // the address leads back to it
    expect(await page.getByTestId('agent-instructions').textContent()).toBe('You are Navigator. Be brief.');
    expect(await page.getByTestId('agents').locator('h1').textContent()).toBe('Pilot');
    await page.getByTestId('record-history').scrollIntoViewIfNeeded();
    await shoot(page, 'registry-history');
    expect(problems).toEqual([]);
  });
});
