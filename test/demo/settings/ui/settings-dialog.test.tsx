import { afterEach, describe, expect, it, vi } from 'vitest';
import { PinnaceError } from '../../../../src/base/errors.ts';
import { fakePromptApi } from '../../../fixtures/browser-model/prompt-api.ts';
import { mount, type Page } from '../../../fixtures/page/playground.tsx';

let page: Page;

afterEach(() => {
  page.unmount();
  vi.unstubAllGlobals();
});

const remembered = { endpoint: { baseUrl: 'https://api.example.com/v1', model: 'large', keyless: false } };

async function openWithEndpoint(): Promise<void> {
  await page.click('model-badge');
  await page.find('settings-dialog');
  await page.click('settings-endpoint');
  await page.find('settings-key');
}

describe('SettingsDialog', () => {
  it('hands the endpoint to the worker, shows it in the badge, and clears the key', async () => {
    page = await mount();
    await openWithEndpoint();
    await page.type('settings-base-url', 'https://api.example.com/v1');
    await page.type('settings-model', 'large');
    await page.type('settings-key', 'sk-secret');
    const key = await page.find('settings-key');
    await page.click('settings-save');
    await vi.waitFor(() => expect(page.all('settings-dialog')).toHaveLength(0));
    expect(page.endpoints).toEqual([{ ...remembered.endpoint, keyless: undefined, apiKey: 'sk-secret' }]);
    expect(key).toHaveProperty('value', '');
    expect(page.all('model-badge')[0]?.textContent).toContain('api.example.com');
    expect(page.all('model-badge')[0]?.textContent).toContain('large');
    expect(JSON.stringify([...page.notes])).not.toContain('sk-secret');
    expect(document.documentElement.outerHTML).not.toContain('sk-secret');
  });

  it('clears the key when it is left', async () => {
    page = await mount();
    await openWithEndpoint();
    const key = await page.find('settings-key');
    await page.type('settings-key', 'sk-secret');
    await page.click('settings-cancel');
    await vi.waitFor(() => expect(page.all('settings-dialog')).toHaveLength(0));
    expect(key).toHaveProperty('value', '');
    expect(page.endpoints).toEqual([]);
  });

  it('keeps browsers from remembering the key', async () => {
    page = await mount();
    await openWithEndpoint();
    const key = await page.find('settings-key');
    expect(key.getAttribute('type')).toBe('password');
    expect(key.getAttribute('autocomplete')).toBe('off');
  });

  it('says what is wrong beside the field, goes there, and sends nothing', async () => {
    page = await mount();
    await openWithEndpoint();
    await page.type('settings-base-url', 'http://api.example.com/v1');
    await page.click('settings-save');
    const field = await page.find('settings-base-url');
    await vi.waitFor(() => expect(field.getAttribute('aria-invalid')).toBe('true'));
    const help = document.getElementById(field.getAttribute('aria-describedby') ?? '');
    expect(help?.textContent).toContain('encrypted');
    expect(document.activeElement).toBe(field);
    expect(page.all('settings-model')[0]?.getAttribute('aria-invalid')).toBe('true');
    expect(page.endpoints).toEqual([]);
  });

  it('needs no key where the person says so', async () => {
    page = await mount();
    await openWithEndpoint();
    await page.type('settings-base-url', 'http://localhost:11434/v1');
    await page.type('settings-model', 'small');
    await page.click('settings-keyless');
    await vi.waitFor(() => expect(page.all('settings-key')[0]).toHaveProperty('disabled', true));
    await page.click('settings-save');
    await vi.waitFor(() => expect(page.endpoints).toEqual([{ baseUrl: 'http://localhost:11434/v1', model: 'small' }]));
  });

  it('asks for the key of the last visit again before anything is sent', async () => {
    page = await mount({ notes: remembered });
    expect((await page.find('key-notice')).textContent).toContain('api.example.com');
    expect(page.all('model-badge')[0]?.dataset['locked']).toBe('true');
    await page.type('composer', 'Hi');
    await vi.waitFor(() => expect(page.all('send')[0]).toHaveProperty('disabled', false));
    await page.click('send');
    await page.find('settings-dialog');
    expect(page.transport.sent).toHaveLength(0);
    expect(page.all('composer')[0]).toHaveProperty('value', 'Hi');
    expect(await page.find('settings-base-url')).toHaveProperty('value', 'https://api.example.com/v1');
    await page.type('settings-key', 'sk-again');
    await page.click('settings-save');
    await vi.waitFor(() => expect(page.all('key-notice')).toHaveLength(0));
    expect(page.endpoints).toMatchObject([{ apiKey: 'sk-again' }]);
  });
});

describe('SettingsDialog, a Pinnace server', () => {
  async function choose(url?: string): Promise<void> {
    await page.click('model-badge');
    await page.click('settings-pinnace');
    await page.find('settings-url');
    if (url !== undefined) await page.type('settings-url', url);
    await page.click('settings-save');
  }

  it('takes the address with or without its last part', async () => {
    page = await mount();
    await choose('https://agents.example/v1/');
    await vi.waitFor(() => expect(page.connected).toEqual(['https://agents.example']));
  });

  it('says what is wrong with the address', async () => {
    page = await mount();
    await choose('http://agents.example');
    await vi.waitFor(() => expect(page.all('settings-url')[0]?.getAttribute('aria-invalid')).toBe('true'));
    expect(page.connected).toEqual([]);
  });

  it('says what to do where no issuer certifies the page, and changes nothing', async () => {
    const noIssuer = new PinnaceError('unavailable', 'No issuer', { details: { reason: 'no_issuer' } });
    page = await mount({ noIssuer });
    await choose();
    expect((await page.find('settings-failure')).textContent).toContain('npm start');
    expect(page.all('model-badge')[0]?.dataset['model']).toBe('rehearsal');
    expect(page.notes.has('pinnace.pinnace')).toBe(false);
  });

  it('is remembered, connected to when it is needed, and left for the rehearsal model', async () => {
    page = await mount({ notes: { pinnace: { url: 'https://agents.example' } } });
    expect(page.all('model-badge')[0]?.dataset['model']).toBe('pinnace');
    expect(page.connected).toEqual([]);
    await page.click('model-badge');
    await page.click('model-other');
    await page.click('settings-rehearsal');
    await page.click('settings-save');
    await vi.waitFor(() => expect(page.all('model-badge')[0]?.dataset['model']).toBe('rehearsal'));
    expect(page.notes.has('pinnace.pinnace')).toBe(false);
  });
});

describe('SettingsDialog, the browser’s own model', () => {
  async function choose(): Promise<void> {
    await page.click('model-badge');
    await page.click('settings-browser');
    await page.find('browser-model');
  }

  it('says where the browser has none, and cannot be chosen', async () => {
    page = await mount();
    await choose();
    await vi.waitFor(() => expect(page.all('state-browser')[0]?.textContent).toBe('Not available'));
    expect(page.all('browser-model')[0]?.textContent).toContain('Chrome 148');
    expect(page.all('settings-save')[0]).toHaveProperty('disabled', true);
  });

  it('answers where it is ready, is remembered, and is connected again on the next visit', async () => {
    vi.stubGlobal('LanguageModel', fakePromptApi());
    page = await mount();
    await choose();
    await vi.waitFor(() => expect(page.all('settings-save')[0]).toHaveProperty('disabled', false));
    await page.click('settings-save');
    await vi.waitFor(() => expect(page.all('model-badge')[0]?.dataset['model']).toBe('browser'));
    expect(page.browserPorts).toHaveLength(1);
    expect(page.notes.get('pinnace.model')).toBe('{"type":"browser"}');
    page.unmount();
    page = await mount({ notes: { model: { type: 'browser' } } });
    expect(page.all('model-badge')[0]?.dataset['model']).toBe('browser');
    expect(page.browserPorts).toHaveLength(1);
  });

  it('is downloaded at a click, with progress', async () => {
    const state = { availability: 'downloadable' as const };
    const { promise, resolve } = Promise.withResolvers<void>();
    const ready = fakePromptApi();
    vi.stubGlobal('LanguageModel', {
      availability: () => Promise.resolve(state.availability),
      async create(options: { readonly monitor?: (monitor: EventTarget) => void }) {
        const monitor = new EventTarget();
        options.monitor?.(monitor);
        monitor.dispatchEvent(Object.assign(new Event('downloadprogress'), { loaded: 0.42 }));
        await promise;
        Object.assign(state, { availability: 'available' });
        return await ready.create();
      },
    });
    page = await mount();
    await choose();
    await vi.waitFor(() => expect(page.all('state-browser')[0]?.textContent).toBe('Download needed'));
    await page.click('browser-download');
    const bar = await page.find('browser-progress');
    await vi.waitFor(() => expect(bar.parentElement?.textContent).toContain('42 %'));
    resolve();
    await vi.waitFor(() => expect(page.all('state-browser')[0]?.textContent).toBe('Ready'));
    expect(page.all('settings-save')[0]).toHaveProperty('disabled', false);
  });

  it('says why a download failed', async () => {
    vi.stubGlobal(
      'LanguageModel',
      fakePromptApi({ availability: 'downloadable', refusal: new DOMException('x', 'NetworkError') }),
    );
    page = await mount();
    await choose();
    await page.click('browser-download');
    expect((await page.find('browser-problem')).textContent).toContain('could not download');
    expect(page.all('settings-save')[0]).toHaveProperty('disabled', true);
  });
});
