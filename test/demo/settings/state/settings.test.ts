import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../../demo/control/page-control.ts';
import { checkEndpoint, type EndpointFields } from '../../../../demo/endpoint/state/endpoint.ts';
import { createNotes, type TextStore } from '../../../../demo/storage/notes.ts';
import type { ServerModel } from '../../../../demo/control/page-control.ts';
import { createSettings, modelLabel, type Settings } from '../../../../demo/settings/state/settings.ts';
import { createTheme } from '../../../../demo/app/state/theme.ts';

function textStore(): TextStore & { readonly texts: Map<string, string> } {
  const texts = new Map<string, string>();
  return {
    texts,
    getItem: (key) => texts.get(key) ?? null,
    setItem: (key, value) => void texts.set(key, value),
    removeItem: (key) => void texts.delete(key),
  };
}

function refusing(): TextStore {
  throw new DOMException('No', 'SecurityError');
}

function create(store: TextStore): { settings: Settings; used: (Endpoint | undefined)[] } {
  const used: (Endpoint | undefined)[] = [];
  const control = {
    connectedEndpoint: () => Promise.resolve(undefined),
    useModel: ({ baseUrl }: ServerModel) => Promise.resolve(used.some((one) => one?.baseUrl === baseUrl)),
    askServer: () => Promise.resolve({ ok: true, models: [] } as const),
    useEndpoint: (endpoint: Endpoint | undefined) => Promise.resolve(void used.push(endpoint)),
  };
  return {
    settings: createSettings({
      control,
      notes: createNotes(() => store),
      connect: () => Promise.resolve(),
      serveBrowser: () => Promise.resolve(),
    }),
    used,
  };
}

const endpoint = { baseUrl: 'https://api.example.com/v1', model: 'large' };

describe('createSettings', () => {
  it('hands the key to the worker and remembers the rest', async () => {
    const store = textStore();
    const { settings, used } = create(store);
    await settings.useEndpoint({ ...endpoint, apiKey: 'sk-secret' });
    expect(used).toEqual([{ ...endpoint, apiKey: 'sk-secret' }]);
    expect(JSON.stringify([...store.texts])).not.toContain('sk-secret');
    expect(JSON.stringify(settings.choice.value)).not.toContain('sk-secret');
    expect(modelLabel(settings.choice.value)).toBe('api.example.com · large');
  });

  it('goes on with an endpoint that needs no key', async () => {
    const store = textStore();
    await create(store).settings.useEndpoint(endpoint);
    const { settings, used } = create(store);
    await settings.restore();
    expect(settings.choice.value).toMatchObject({ keyless: true, locked: false });
    expect(used).toEqual([endpoint]);
  });
});

describe('createNotes', () => {
  it('reads as empty and writes nothing where the browser refuses', async () => {
    const notes = createNotes(refusing);
    notes.write('theme', 'dark');
    const theme = createTheme({ notes, root: document.createElement('html') });
    expect(theme.value).toBe('system');
  });
});

describe('createTheme', () => {
  it('shows and remembers what is chosen, and by default follows the system', () => {
    const notes = createNotes(textStore);
    const root = document.createElement('html');
    const store = textStore();
    const stored = createNotes(() => store);
    const theme = createTheme({ notes: stored, root });
    expect(root.dataset['theme']).toBeUndefined();
    theme.value = 'dark';
    expect(root.dataset['theme']).toBe('dark');
    expect(createTheme({ notes: stored, root }).value).toBe('dark');
    expect(createTheme({ notes, root }).value).toBe('system');
  });
});

describe('checkEndpoint', () => {
  const good: EndpointFields = {
    baseUrl: ' https://api.example.com/v1/ ',
    model: ' large ',
    apiKey: ' sk-1 ',
    keyless: false,
  };

  it('gives the endpoint without the spaces around it', () => {
    expect(checkEndpoint(good)).toEqual({ ok: true, endpoint: { ...endpoint, apiKey: 'sk-1' } });
  });

  it('leaves the key out where none is needed', () => {
    expect(checkEndpoint({ ...good, keyless: true })).toEqual({ ok: true, endpoint });
  });

  it.each<[Partial<EndpointFields>, string, string]>([
    [{ baseUrl: '' }, 'baseUrl', 'Enter the address'],
    [{ baseUrl: 'api.example.com/v1' }, 'baseUrl', 'starts with https://'],
    [{ baseUrl: 'ftp://example.com' }, 'baseUrl', 'starts with https://'],
    [{ baseUrl: 'javascript:alert(1)' }, 'baseUrl', 'starts with https://'],
    [{ baseUrl: 'http://api.example.com/v1' }, 'baseUrl', 'requests are encrypted'],
    [{ baseUrl: 'http://localhost.example.com' }, 'baseUrl', 'requests are encrypted'],
    [{ baseUrl: 'https://me:secret@example.com' }, 'baseUrl', 'its own field'],
    [{ baseUrl: 'https://example.com/v1?key=secret' }, 'baseUrl', '“?”'],
    [{ model: ' ' }, 'model', 'Enter the name of a model'],
    [{ apiKey: '' }, 'apiKey', 'Enter the key'],
    [{ apiKey: 'sk 1' }, 'apiKey', 'Paste it again'],
    [{ apiKey: 'sk-…' }, 'apiKey', 'Paste it again'],
  ])('says what is wrong: %j', (fields, name, text) => {
    const checked = checkEndpoint({ ...good, ...fields });
    expect(checked).toMatchObject({ ok: false, errors: { [name]: expect.stringContaining(text) } });
    expect(JSON.stringify(checked)).not.toContain('secret');
  });

  it('says everything that is wrong at once', () => {
    const checked = checkEndpoint({ baseUrl: '', model: '', apiKey: '', keyless: false });
    expect(checked.ok ? [] : Object.keys(checked.errors)).toEqual(['baseUrl', 'model', 'apiKey']);
  });
});
