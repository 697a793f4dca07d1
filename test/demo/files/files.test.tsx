import { afterEach, describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import type { UIMessage } from '../../../src/contracts/ai-types.ts';
import { linesOfPdf, pdfOf } from '../../fixtures/pdf.ts';
import { zipOf } from '../../fixtures/code.ts';
import { agents, answer, mount, type Page, send } from '../../fixtures/page/playground.tsx';

let page: Page;

afterEach(() => page.unmount());

const base64 = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const pngBytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
const png = (name = 'dot.png', { size = 0 } = {}) =>
  new File([pngBytes, new Uint8Array(size)], name, { type: 'image/png' });
const address = `pinnace-blob:${'a'.repeat(64)}`;

/** Chooses files in the dialog of the button. */
async function choose(...files: File[]): Promise<void> {
  const input = await page.find('attach-input');
  Object.defineProperty(input, 'files', { value: files, configurable: true });
  input.dispatchEvent(new Event('change', { bubbles: true }));
}

function hand(
  element: Element,
  type: 'paste' | 'drop',
  { files, types = ['Files'], text = '' }: { files: File[]; types?: string[]; text?: string },
) {
  const event = new Event(type, { bubbles: true, cancelable: true });
  Object.assign(event, {
    [type === 'paste' ? 'clipboardData' : 'dataTransfer']: { files, types, getData: () => text },
  });
  element.dispatchEvent(event);
  return event;
}

const attached = (count: number) => vi.waitFor(() => expect(page.all('attached')).toHaveLength(count));
const names = () => page.playground.chats.current.value.attached.value.map(({ name }) => name);
const lastSent = (): UIMessage | undefined => page.transport.sent.at(-1)?.messages.at(-1);

/** Sends an image and says where the run has stored it. */
async function sendStored(): Promise<void> {
  await choose(png());
  await attached(1);
  await send(page, 'What is this?');
  page.transport.write({
    type: 'data-attachment',
    id: 'a',
    data: { messageId: lastSent()?.id, part: 1, url: address, mediaType: 'image/png', size: 70 },
  });
}

describe('attaching files', () => {
  it('sends chosen files with the message and shows them in it', async () => {
    page = await mount();
    expect((await page.find('attach')).getAttribute('aria-label')).toBe('Attach file');
    await choose(png(), new File(['a,b\n1,2\n'], 'cities.csv', { type: 'text/csv' }));
    await attached(2);
    await send(page, 'What is this?');
    expect(lastSent()?.parts).toEqual([
      { type: 'text', text: 'What is this?' },
      { type: 'file', filename: 'dot.png', mediaType: 'image/png', url: `data:image/png;base64,${base64}` },
      {
        type: 'file',
        filename: 'cities.csv',
        mediaType: 'text/csv',
        url: `data:text/csv;base64,${btoa('a,b\n1,2\n')}`,
      },
    ]);
    expect(await page.find('file-image')).toMatchObject({ alt: 'dot.png' });
    expect(page.all('file').map(({ title, textContent }) => [title, textContent])).toEqual([
      ['dot.png, PNG picture, 70 bytes', 'Download'],
      ['', 'Downloadcities.csvTable, 8 bytes'],
    ]);
    expect(page.all('attached')).toHaveLength(0);
  });

  it('sends files without a text, under the name of the first', async () => {
    page = await mount();
    await choose(png());
    await attached(1);
    await page.click('send');
    await vi.waitFor(() => expect(lastSent()?.parts).toMatchObject([{ type: 'file', filename: 'dot.png' }]));
    expect(page.playground.chats.current.value.title.value).toBe('dot.png');
  });

  it('removes a file before it is sent', async () => {
    page = await mount();
    await choose(png('one.png'), png('two.png'));
    await attached(2);
    expect(page.all('remove-file')[0]?.getAttribute('aria-label')).toBe('Remove one.png');
    await page.click('remove-file');
    await attached(1);
    expect(names()).toEqual(['two.png']);
  });

  it('takes files that are pasted, and leaves a pasted text with its picture to the browser', async () => {
    page = await mount();
    const composer = await page.find('composer');
    expect(hand(composer, 'paste', { files: [png()] }).defaultPrevented).toBe(true);
    await attached(1);
    const short = hand(composer, 'paste', { files: [], types: ['text/plain'], text: 'Hello' });
    expect(short.defaultPrevented).toBe(false);
    const withText = hand(composer, 'paste', { files: [png()], types: ['text/plain', 'Files'] });
    expect(withText.defaultPrevented).toBe(false);
    expect(names()).toEqual(['dot.png']);
  });

  it('makes files of long pasted texts, and puts one back into the message', async () => {
    page = await mount();
    const composer = await page.find('composer');
    const text = 'Tide and time. '.repeat(400);
    expect(hand(composer, 'paste', { files: [], types: ['text/plain'], text }).defaultPrevented).toBe(true);
    await attached(1);
    hand(composer, 'paste', { files: [], types: ['text/plain'], text: `${text}é` });
    await attached(2);
    expect(names()).toEqual(['Pasted text.txt', 'Pasted text 2.txt']);
    page.all('paste-as-text')[1]?.click();
    await attached(1);
    expect(page.playground.chats.current.value.draft.value).toBe(`${text}é`);
  });

  it('makes a file of a text that is too long for a message, once, and goes on with what is written meanwhile', async () => {
    page = await mount();
    const { draft } = page.playground.chats.current.value;
    draft.value = '"'.repeat(33_000); // each is two characters of JSON
    const composer = await page.find('composer');
    composer.focus();
    page.press('Enter');
    page.press('Enter');
    expect(draft.value).toBe('');
    draft.value = 'What is this?';
    await attached(1);
    await page.find('attach-problem');
    expect(names()).toEqual(['Pasted text.txt']);
    expect(draft.value).toBe('What is this?');
    expect(page.transport.sent).toEqual([]);
  });

  it('leaves a text in the message that is too long for a file, too', async () => {
    page = await mount();
    const { draft } = page.playground.chats.current.value;
    const text = 'a'.repeat(5_242_881);
    draft.value = text;
    (await page.find('composer')).focus();
    page.press('Enter');
    expect((await page.find('attach-problem')).textContent).toContain('too large');
    await vi.waitFor(() => expect(draft.value).toBe(text));
    expect(page.transport.sent).toEqual([]);
  });

  it('takes files that are dropped on the composer', async () => {
    page = await mount();
    expect(hand(await page.find('composer'), 'drop', { files: [png()] }).defaultPrevented).toBe(true);
    await attached(1);
  });

  it.each([
    [png('big.png', { size: 5_242_880 }), '“big.png” is too large: 5.2 MB. The limit is 5.2 MB per file.'],
    [new File(['<svg/>'], 'logo.svg', { type: 'image/svg+xml' }), '“logo.svg” has an unsupported type.'],
    [new File([new Uint8Array([0, 1])], 'a.zip', { type: 'application/zip' }), '“a.zip” has an unsupported type'],
    [new File([], 'empty.txt', { type: 'text/plain' }), '“empty.txt” is empty.'],
  ])('says why a file is not taken', async (file, problem) => {
    page = await mount();
    await choose(file, png());
    expect((await page.find('attach-problem')).textContent).toContain(problem);
    expect((await page.find('attach-problem')).getAttribute('role')).toBe('alert');
    await attached(1);
  });

  it('takes 20 files and 10 MiB for a message', async () => {
    page = await mount();
    await choose(...Array.from({ length: 21 }, (_, i) => png(`${i}.png`)));
    expect((await page.find('attach-problem')).textContent).toContain(
      '“20.png” was not attached: the limit is 20 files per message',
    );
    await attached(20);
    page.playground.chats.current.value.attached.value = [];
    await choose(...['a', 'b', 'c'].map((name) => png(name, { size: 5_000_000 })));
    await vi.waitFor(() => expect(page.all('attach-problem')[0]?.textContent).toContain('“c” was not attached'));
    expect(names()).toEqual(['a', 'b']);
  });

  it('sends the text of a document, and says what of it was not read', async () => {
    page = await mount();
    const report = await zipOf({
      'word/document.xml':
        '<w:document><w:body><w:p><w:r><w:t>High water at noon</w:t></w:r></w:p></w:body></w:document>',
      'word/media/quay.png': 'picture',
    });
    await choose(new File([report], 'report.docx'));
    expect((await page.find('attached')).textContent).toMatch(/^report\.docxDocument, \d+ bytes, 1 part not read$/);
    expect((await page.find('attached')).title).toBe('1 picture: only text is read');
    await send(page, 'When is high water?');
    expect(lastSent()?.parts[1]).toEqual({
      type: 'file',
      filename: 'report.docx',
      mediaType: 'text/markdown',
      url: `data:text/markdown;base64,${btoa('High water at noon')}`,
    });
    expect((await page.find('file')).textContent).toMatch(/^Downloadreport\.docxDocument, \d+ bytes/);
  });

  it('sends the text of a PDF, and a PDF of pictures as it is', async () => {
    page = await mount();
    await choose(
      new File([pdfOf(linesOfPdf('Tides'))], 'tides.pdf', { type: 'application/pdf' }),
      new File([pdfOf('')], 'scan.pdf', { type: 'application/pdf' }),
    );
    await vi.waitFor(() => expect(page.all('attached')).toHaveLength(2), { timeout: 20_000 });
    expect(page.playground.chats.current.value.attached.value.map(({ mediaType }) => mediaType)).toEqual([
      'text/markdown',
      'application/pdf',
    ]);
  }, 30_000);

  it('says that a file does not fit the model, and takes its first part, or puts it into Files', async () => {
    page = await mount({ agents: [{ ...agents[0]!, contextTokens: 10_000 }] });
    const text = 'Tide and time wait for no one.\n'.repeat(4_000); // 31,000 tokens, 8,000 fit
    await choose(new File([text], 'tides.txt', { type: 'text/plain' }));
    expect((await page.find('too-large')).textContent).toContain(
      '“tides.txt” exceeds what this model takes by 288 %.',
    );
    await page.pressButton('Use the first part');
    await vi.waitFor(() => expect(page.all('too-large')).toEqual([]));
    expect((await page.find('attached')).textContent).toContain('Text, 124 kB, 1 part not read');
    await page.click('remove-file');
    await choose(new File([text], 'tides.txt', { type: 'text/plain' }));
    await page.find('too-large');
    await page.pressButton('Put into Files');
    expect((await page.find('knowledge-file')).dataset['name']).toBe('tides.txt');
    expect(names()).toEqual([]);
  });

  it('sends files that are attached while an answer is written with the next message', async () => {
    page = await mount();
    await send(page, 'Hi');
    page.transport.write({ type: 'data-run', id: 'run-1', data: { runId: 'run-1', state: 'running' } });
    await choose(png());
    await attached(1);
    await page.click('send');
    expect((await page.find('queued')).textContent).toContain('dot.png');
    await answer(page, 'Hello');
    await vi.waitFor(() => expect(page.transport.sent).toHaveLength(2));
    expect(lastSent()?.parts).toMatchObject([{ type: 'file', filename: 'dot.png' }]);
    expect(page.transport.steered).toEqual([]);
  });
});

describe('files of a chat', () => {
  it('keeps the address of a stored file instead of its bytes, and shows it after a reload', async () => {
    const storage = memoryStorage();
    page = await mount({ storage });
    page.transport.stored.set(address, png());
    await sendStored();
    await answer(page, 'A dot');
    const chatId = page.playground.chats.current.value.id;
    await vi.waitFor(async () => {
      const stored = await storage.list({ prefix: ['message', chatId], limit: 10 });
      expect(stored[0]?.value).toMatchObject({ files: [{ name: 'dot.png', url: address }] });
      expect(stored).toHaveLength(2);
    });
    page.unmount();
    page = await mount({ storage, chatId });
    page.transport.stored.set(address, png());
    expect(await page.find('file-image')).toMatchObject({ alt: 'dot.png' });
    expect(page.transport.read).toEqual([address]);
    await send(page, 'And now?');
    expect(page.transport.sent[0]?.messages[0]?.parts[1]).toEqual({
      type: 'file',
      filename: 'dot.png',
      mediaType: 'image/png',
      url: address,
    });
  });

  it('gives the true reason when files are too much, and goes on without them', async () => {
    const storage = memoryStorage();
    page = await mount({ storage });
    await sendStored();
    const details = { reason: 'context_window', tokens: 630_662, contextTokens: 128_000 };
    const error = { code: 'budget_exceeded', message: 'Cannot call the model', retryable: false, details };
    page.transport.write(
      { type: 'data-run', data: { runId: 'r', state: 'failed', error } },
      { type: 'error', errorText: error.message },
    );
    page.transport.close();
    const callout = await page.find('error-callout');
    await vi.waitFor(() => expect(callout.textContent).toContain('The message exceeds what this model takes by 393 %'));
    expect([...callout.querySelectorAll('button')].map(({ textContent }) => textContent)).toEqual([
      'Remove the files',
      'New chat',
      'Model settings',
    ]);
    await page.click('remedy-remove-files');
    await vi.waitFor(() => expect(page.transport.sent).toHaveLength(2));
    expect(lastSent()?.parts).toEqual([
      { type: 'text', text: 'What is this?' },
      { type: 'text', text: '[The file "dot.png" was removed]' },
    ]);
    expect((await page.find('file-removed')).textContent).toContain('removed from the chat');
    await answer(page, 'A question');
    await send(page, 'hello?');
    expect(page.transport.sent.at(-1)?.messages[0]?.parts).toHaveLength(2);
  });

  it('says that a file is not available', async () => {
    page = await mount();
    await sendStored();
    expect((await page.find('file-missing')).textContent).toContain('dot.png');
  });

  it('shows an image of the model that the runtime has stored', async () => {
    page = await mount();
    page.transport.stored.set(address, png());
    await send(page, 'Draw');
    page.transport.write({ type: 'file', url: address, mediaType: 'image/png' });
    expect(await page.find('file-image')).toHaveProperty('src', `data:image/png;base64,${base64}`);
    expect((await page.find('file')).title).toBe('File from the model, PNG picture');
  });
});
