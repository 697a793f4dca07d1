import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { send, usePlayground } from '../../../tools/browsers/playground.ts';
import { tooWide, violationsInBoth } from '../../../tools/screens/look.ts';

const { open, shoot } = usePlayground();

const text = [
  'The tide follows \\(h(t) = A \\cos(\\omega t)\\), at $5 a table:',
  '$$\n\\int_0^T h(t)\\,dt = \\frac{A}{\\omega} \\sin(\\omega T)\n$$',
  '```ts\nexport const height = (t: number): number => 2 * Math.cos(t); // meters\n```',
  '```python\ndef height(t):\n    return 2 * cos(t)  # meters\n```',
  '| Port | High |\n|:--|--:|\n| Bergen | 12:04 |\n| Ålesund | 12:40 |',
  'المد مرتفع عند الظهر في **بيرغن** اليوم.',
  '1. **أول** `open()`\n2. ثانٍ\n\n> اقتباس',
  '| א | ב |\n|---|---|\n| 1 | 2 |',
  'A wrong one: $$\\frac{1}{$$',
].join('\n\n');

/** Replaces the text of the stored answer, as if a model had written it. */
async function answerWith(page: Page, before: string, after: string): Promise<void> {
  await page.evaluate(async ([from = '', to = '']) => {
    const done = <T>(request: IDBRequest<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        request.addEventListener('success', () => resolve(request.result));
        request.addEventListener('error', () => reject(request.error ?? new Error('No')));
      });
    const replaced = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value), (_, inner: unknown) => inner === from ? to : inner);
    const db = await done(indexedDB.open('pinnace-playground'));
    for (const name of db.objectStoreNames) {
      const store = db.transaction(name, 'readwrite').objectStore(name);
      const [keys, values] = await Promise.all([done(store.getAllKeys()), done(store.getAll())]);
      for (const [i, value] of values.entries()) {
        if (!JSON.stringify(value).includes(JSON.stringify(from))) continue;
        await done(store.keyPath === null ? store.put(replaced(value), keys[i]) : store.put(replaced(value)));
      }
    }
    db.close();
  }, [before, after]);
  await page.reload();
}

/** How right-to-left parts are drawn: inline code, by how much a list stands out of the text, the side of a quote's line, a table. */
function rightToLeft(page: Page): Promise<unknown> {
  return page.locator('.markdown').evaluate((markdown) => {
    const find = (selector: string): Element => markdown.querySelector(selector) ?? markdown;
    const numbersEnd = find('ol > li').getBoundingClientRect().right + 24; // 1.5rem
    return {
      codeEnds: getComputedStyle(find('li code')).direction,
      list: Math.round(Math.max(0, numbersEnd - markdown.getBoundingClientRect().right)),
      quote: getComputedStyle(find('blockquote')).borderRightWidth,
      cells: getComputedStyle(find('.table-scroller:last-of-type table td')).direction,
    };
  });
}

describe('an answer with code, formulas, a table and two directions', () => {
  it('is drawn without a violation of the policy, readable and within the window', async () => {
    const { page, problems } = await open({ height: 1100 });
    await send(page, 'What is 6 * 7?');
    await page.getByTestId('answer-footer').waitFor();
    const said = await page.locator('.markdown').innerText();
    await page.getByTestId('send').waitFor();
    await answerWith(page, said, text);
    await page.locator('.token-kwd').first().waitFor();
    await page.locator('math').nth(1).waitFor();
    await expect.poll(() => page.locator('math').count()).toBe(2);
    expect(await page.locator('.code-block').first().innerText()).toContain('export const height = (t: number)');
    expect(await page.locator('.code-block .token-cmnt').allTextContents()).toEqual(['// meters', '# meters']);
    expect(await page.locator('.markdown').innerText()).toContain('at $5 a table');
    expect(await page.locator('.markdown p').getByText('بيرغن').evaluate((one) => getComputedStyle(one).direction))
      .toBe('rtl');
    expect(await rightToLeft(page)).toEqual({ codeEnds: 'ltr', list: 0, quote: '3px', cells: 'rtl' });
    await expect.poll(() => page.locator('.markdown code').getByText('\\frac{1}{').count()).toBe(1);
    expect([...await violationsInBoth(page), ...await tooWide(page)]).toEqual([]);
    await shoot(page, 'rich-text');
    expect(problems).toEqual([]);
  });
});

describe('a long pasted text', () => {
  it('becomes a file of the message', async () => {
    const { page, problems } = await open();
    await page.getByTestId('composer').evaluate((field) => {
      const data = new DataTransfer();
      data.setData('text/plain', 'Tide and time wait for no one. '.repeat(6000));
      field.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    });
    await page.getByTestId('attached').getByText('Pasted text.txt').waitFor();
    await shoot(page, 'pasted-text');
    expect(await page.getByTestId('composer').inputValue()).toBe('');
    await send(page, 'Keep this');
    await page.getByTestId('answer-footer').waitFor();
    expect(await page.locator('[data-role=user]').getByTestId('file').textContent()).toContain('Pasted text.txt');
    expect(problems).toEqual([]);
  });

  it('becomes one when it is sent, where it was typed or put in as text', async () => {
    const { page } = await open();
    await page.getByTestId('composer').fill('Tide and time wait for no one. '.repeat(3000));
    await page.getByTestId('composer').press('Enter');
    await page.getByTestId('attached').getByText('Pasted text.txt').waitFor();
    await page.getByTestId('attach-problem').getByText('too long for a message').waitFor();
    expect(await page.getByTestId('composer').inputValue()).toBe('');
    expect(await page.getByTestId('message').count()).toBe(0);
    await send(page, 'Keep this');
    await page.getByTestId('answer-footer').waitFor();
    expect(await page.getByTestId('error-callout').count()).toBe(0);
  });
});

/** Formulas that draw outside of the place that they take. */
const overlays = [
  '\\smash{\\rule[-15em]{19em}{19em}}',
  '\\raisebox{-20em}{\\rule{19em}{19em}}',
  '\\raisebox{20em}{\\rule{19em}{19em}}',
  '\\rule{0.1em}{0.1em}\\kern-20em\\smash{\\rule[10em]{19em}{9em}}',
  '\\hspace{-20em}\\rule{19em}{1em}',
  '\\rlap{\\rule{19em}{1em}}',
  '\\llap{\\rule{19em}{1em}}',
  '\\smash{\\Huge\\rule[-9em]{9em}{19em}}',
  '\\vphantom{}\\smash{\\begin{matrix}a\\\\a\\\\a\\\\a\\\\a\\\\a\\\\a\\\\a\\\\a\\end{matrix}}',
];

describe('a formula of a stranger', () => {
  it('paints nothing outside of its own box, alone or in a line', async () => {
    const { page, problems } = await open({ width: 1280, height: 1100 });
    await send(page, 'What is 6 * 7?');
    await page.getByTestId('answer-footer').waitFor();
    const said = await page.locator('.markdown').innerText();
    const blocks = overlays.map((formula) => `Before \\(${formula}\\) after\n\n$$\n${formula}\n$$`);
    await answerWith(page, said, blocks.join('\n\n'));
    await expect.poll(() => page.locator('.formula math').count()).toBe(overlays.length * 2);
    expect(await strays(page)).toEqual([]);
    await shoot(page, 'formula-overlays');
    expect(problems).toEqual([]);
  });
});

/** Where a part of a formula is hit outside of the formula's own box, with a small margin for slanted letters. */
function strays(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    for (const formula of document.querySelectorAll('.formula')) {
      formula.scrollIntoView({ block: 'center' });
      const box = formula.getBoundingClientRect();
      const margin = 6;
      for (let x = 4; x < innerWidth; x += 12) {
        for (let y = 4; y < innerHeight; y += 12) {
          const isInside = x > box.left - margin && x < box.right + margin && y > box.top - margin &&
            y < box.bottom + margin;
          const hit = isInside ? null : document.elementFromPoint(x, y);
          if (hit && formula.contains(hit)) found.push(`${formula.textContent?.slice(0, 40)} at ${x},${y}`);
        }
      }
    }
    return found;
  });
}
