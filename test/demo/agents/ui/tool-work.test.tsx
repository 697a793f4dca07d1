import { afterEach, describe, expect, it, vi } from 'vitest';
import { mount, type Page } from '../../../fixtures/page/playground.tsx';
import { hostedRegistry } from '../../../fixtures/page/registry-host.ts';

let page: Page;

afterEach(() => page.unmount());

const field = (testId: string): HTMLInputElement => page.all(testId)[0] as HTMLInputElement; // safe enough: what has no value fails the test
const text = (testId: string): string => page.all(testId)[0]?.textContent ?? '';

async function newTool(options: Parameters<typeof hostedRegistry>[0] = {}, type = 'http'): Promise<void> {
  page = await mount({ registry: hostedRegistry(options).control });
  await page.click('open-agents');
  await page.click('registry-tab-tool');
  await page.click('record-new');
  const choice = await page.find('field-type') as HTMLSelectElement; // safe enough, as above
  choice.value = type;
  choice.dispatchEvent(new Event('change', { bubbles: true }));
  await page.find('tool-work');
}

describe('an HTTP tool in its form', () => {
  it('is written as a request, with the inputs and the secrets that this names, and its JSON beside it', async () => {
    await newTool();
    await page.type('field-name', 'weather');
    await page.type('field-description', 'Tells the weather');
    await page.type('http-url', 'https://api.example.com/weather/{city}?units=');
    await page.type('http-headers', 'X-Key: {{secret:weather}}');
    expect(field('http-url').value).toBe('https://api.example.com/weather/{city}?units=');
    expect(page.all('param-name').map((name) => (name as HTMLInputElement).value)).toEqual(['city']);
    expect(JSON.parse(field('field-config').value)).toEqual({
      method: 'GET',
      origin: 'https://api.example.com',
      path: '/weather/{city}',
      query: { units: '' },
      headers: { 'X-Key': '{{secret:weather}}' },
    });
    expect(field('field-secrets').value).toBe('weather');
    await vi.waitFor(() => expect(JSON.parse(field('trial-input').value)).toEqual({ city: 'text' }));
    await page.click('trial-preview');
    expect((await page.find('trial-request')).textContent).toMatch(
      /GET https:.*weather\/text.*x-key: \[secret weather\]/s,
    );
    await page.click('record-save');
    await page.find('record-page');
    await page.find('trial'); // the tool can be tried there, too
  });

  it('says while it is typed that a broken address cannot be called', async () => {
    await newTool();
    await page.type('field-name', 'weather');
    await page.type('http-url', 'not a url at all');
    await vi.waitFor(() => expect(page.all('http-url')[0]?.getAttribute('aria-invalid')).toBe('true'));
    await page.click('record-save');
    expect(page.all('record-page')).toEqual([]);
    await page.type('http-url', 'https://api.example.com/weather');
    await vi.waitFor(() => expect(page.all('http-url')[0]?.getAttribute('aria-invalid')).toBe('false'));
  });

  it('has a row for each placeholder, removed with it unless text was entered', async () => {
    const names = (): readonly string[] => page.all('param-name').map((name) => (name as HTMLInputElement).value);
    await newTool();
    await page.type('http-url', 'https://api.example.com/{a}/{b}');
    expect(names()).toEqual(['a', 'b']);
    const [described] = page.all('param-description') as HTMLInputElement[]; // the first row's
    if (described) described.value = 'The first';
    described?.dispatchEvent(new Event('input', { bubbles: true }));
    await page.type('http-url', 'https://api.example.com/{c}');
    expect(names()).toEqual(['a', 'c']);
  });

  it('is named by an identifier made of what a person wrote', async () => {
    const egress = { fetch: () => Promise.resolve(Response.json({})) };
    await newTool({ egress });
    await page.type('field-name', 'Größe: get the Weather!');
    await page.type('field-id', 'weather');
    await page.type('field-description', 'Tells the weather');
    await page.type('http-url', 'https://api.example.com/weather');
    await page.click('record-save');
    expect((await page.find('record-page')).textContent).toContain('gro_e_get_the_weather');
  });

  it('is sent by hand, and shows what the server said and what a model gets', async () => {
    const egress = { fetch: () => Promise.resolve(Response.json({ temperature: 21, noise: 'x' })) };
    await newTool({ egress });
    await page.type('http-url', 'https://api.example.com/weather');
    await page.type('http-fields', 'temperature');
    await page.click('trial-call');
    expect((await page.find('trial-result')).dataset['ok']).toBe('true');
    expect(text('trial-result')).toMatch(/Success.*200.*noise.*Output for the model.*"temperature": 21/s);
  });

  it('says what is wrong before anything is sent', async () => {
    await newTool();
    await page.type('http-url', 'http://localhost/x');
    await page.click('trial-call');
    expect((await page.find('trial-problem')).textContent).toContain('public host');
    await page.type('trial-input', '{');
    await page.click('trial-preview');
    await vi.waitFor(() => expect(text('trial-problem')).toBe('The input must be JSON.'));
  });
});

describe('a code tool in its form', () => {
  const editor = (): HTMLTextAreaElement => page.all('code-editor')[0] as HTMLTextAreaElement; // safe enough, as above

  it('says where the code is not whole, and where it threw', async () => {
    const thrown = { code: 'internal', message: 'It threw an error', retryable: false } as const;
    const { PinnaceError } = await import('../../../../src/index.ts');
    const error = new PinnaceError(thrown.code, thrown.message, {
      details: { line: 2, column: 3 },
      cause: new Error('Oops'),
    });
    await newTool({ sandbox: { run: () => Promise.reject(error) } }, 'code');
    await page.type('code-editor', 'const a = 1;\nreturn (a');
    await vi.waitFor(() => expect(text('code-mark')).toContain('Line 2, column 8: “(” is never closed.'));
    await page.type('code-editor', 'const a = 1;\n  b();');
    await page.click('trial-call');
    await vi.waitFor(() => expect(text('code-mark')).toContain('Line 2, column 3: Oops.'));
    expect(JSON.parse(field('field-config').value)).toEqual({ code: 'const a = 1;\n  b();' });
  });

  it('is indented by Tab and Enter, and left by Tab after Esc', async () => {
    await newTool({}, 'code');
    await page.type('code-editor', 'if (a) {');
    editor().focus();
    editor().setSelectionRange(8, 8);
    page.press('Enter');
    await vi.waitFor(() => expect(editor().value).toBe('if (a) {\n  '));
    page.press('Tab');
    await vi.waitFor(() => expect(editor().value).toBe('if (a) {\n    '));
    page.press('Tab', { shiftKey: true });
    await vi.waitFor(() => expect(editor().value).toBe('if (a) {\n  '));
    page.press('Escape');
    expect(page.all('record-form').length).toBe(1); // it left nothing
    const tab = new KeyboardEvent('keydown', { key: 'Tab', bubbles: true, cancelable: true });
    editor().dispatchEvent(tab);
    expect(tab.defaultPrevented).toBe(false);
  });
});
