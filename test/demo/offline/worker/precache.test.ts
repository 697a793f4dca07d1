import { describe, expect, it } from 'vitest';
import type { Build } from '../../../../demo/offline/worker/build-files.ts';
import { createPrecache, type PrecacheOptions } from '../../../../demo/offline/worker/precache.ts';

const scope = 'https://files.example/boat/';
const build: Build = {
  version: 'v2',
  files: [{ path: '', integrity: 'sha256-page' }, { path: 'assets/index-abcdefgh.js', integrity: 'sha256-script' }],
  docs: [
    { path: 'docs/index.html', integrity: 'sha256-guides' },
    { path: 'docs/tools.html', integrity: 'sha256-tools' },
    { path: 'docs/pictures/chat.webp', integrity: 'sha256-picture' },
  ],
};

/** Caches in memory, by their names. */
function fakeCaches(given: Readonly<Record<string, readonly string[]>> = {}) {
  const all = new Map(
    Object.entries(given).map(([name, urls]) => [name, new Map(urls.map((url) => [url, `${name}: ${url}`]))]),
  );
  const find = (urls: Map<string, string> | undefined, url: string) =>
    urls?.has(url) ? new Response(urls.get(url)) : undefined;
  const open = (name: string) => {
    const urls = all.get(name) ?? new Map<string, string>();
    all.set(name, urls);
    return Promise.resolve({
      match: (url: string) => Promise.resolve(find(urls, url)),
      put: async (url: string, response: Response) => void urls.set(url, await response.text()),
      keys: () => Promise.resolve([...urls.keys()].map((url) => ({ url }))),
    });
  };
  const caches = {
    open,
    keys: () => Promise.resolve([...all.keys()]),
    delete: (name: string) => Promise.resolve(all.delete(name)),
    match: (url: string) => Promise.resolve([...all.values()].map((urls) => find(urls, url)).find(Boolean)),
  } as unknown as CacheStorage; // as much as is asked of it
  return { caches, names: () => [...all.keys()] };
}

function setup({ caches = fakeCaches().caches, ...others }: Partial<PrecacheOptions> = {}) {
  return createPrecache({
    build,
    scope,
    caches,
    fetch: () => Promise.resolve(new Response('fetched')),
    openScripts: () => Promise.resolve(new Set()),
    hasNewer: () => false,
    ...others,
  });
}

/** A navigation cannot be made by hand. */
const request = (url: string, mode: RequestMode = 'cors', method = 'GET') =>
  ({ url: new URL(url, scope).href, mode, method }) as Request;

describe('createPrecache', () => {
  it.each([
    ['the page', request('', 'navigate'), true],
    ['the page by its name', request('index.html', 'navigate'), true],
    ['the page with a question', request('?theme=dark', 'navigate'), true],
    ['a file of the build', request('assets/index-abcdefgh.js'), true],
    ['a file of an older build', request('assets/index-00000000.js'), true],
    ['a guide', request('docs/tools.html', 'navigate'), true],
    ['the guides by their folder', request('docs/', 'navigate'), true],
    ['a picture of a guide', request('docs/pictures/chat.webp', 'no-cors'), true],
    ['another page below it', request('other/', 'navigate'), false],
    ['a guide that is not of this build', request('docs/none.html', 'navigate'), false],
    ['an endpoint beside it', request('v1/runs'), false],
    ['an endpoint beside it, with the page’s address', request(''), false],
    ['a file with a question', request('assets/index-abcdefgh.js?x'), false],
    ['what is written', request('assets/index-abcdefgh.js', 'cors', 'POST'), false],
    ['another folder', request('/other/assets/index-abcdefgh.js'), false],
    ['another origin', request('https://model.example/boat/assets/index-abcdefgh.js'), false],
  ])('answers for its own files alone: %s', (_, asked, isOurs) => {
    expect(setup().isOurs(asked)).toBe(isOurs);
  });

  it('stores no guide at the first visit, all their texts once one has been opened, and a picture that was shown', async () => {
    const asked: string[] = [];
    const fetch: PrecacheOptions['fetch'] = (url) => {
      asked.push((url as string).slice(scope.length)); // as it is called
      return Promise.resolve(new Response('fetched'));
    };
    const precache = setup({ fetch });
    await precache.fill();
    await precache.keepDocs(request('', 'navigate'));
    expect(asked).toEqual(['', 'assets/index-abcdefgh.js']);
    const opened = await precache.answer(request('docs/tools.html#approvals', 'navigate'));
    expect(await opened.text()).toBe('fetched');
    await precache.keepDocs(request('docs/tools.html', 'navigate'));
    expect(asked.slice(2)).toEqual(['docs/tools.html', 'docs/index.html']);
    const picture = request('docs/pictures/chat.webp', 'no-cors');
    await precache.keepDocs(picture);
    await precache.answer(picture);
    await precache.answer(picture);
    expect(asked.slice(4)).toEqual(['docs/pictures/chat.webp']);
  });

  it('gives a guide of the server where it is another version than the build', async () => {
    const fetch: PrecacheOptions['fetch'] = (_, init) =>
      init?.integrity ? Promise.reject(new TypeError('integrity')) : Promise.resolve(new Response('newer'));
    const answer = await setup({ fetch }).answer(request('docs/tools.html', 'navigate'));
    expect(await answer.text()).toBe('newer');
  });

  it('is not filled by a server that has not all of the build', async () => {
    const fetch = () => Promise.resolve(new Response('No', { status: 404 }));
    await expect(setup({ fetch }).fill()).rejects.toThrow('404');
  });

  it('answers from its own build, then from an older one, then from the server', async () => {
    const [own, older] = [`${scope}assets/index-abcdefgh.js`, `${scope}assets/index-00000000.js`];
    const { caches } = fakeCaches({ 'pinnace /boat/ v1': [own, older, scope], 'pinnace /boat/ v2': [own, scope] });
    const precache = setup({ caches });
    const answer = async (...asked: Parameters<typeof request>) => (await precache.answer(request(...asked))).text();
    expect(await answer('', 'navigate')).toBe(`pinnace /boat/ v2: ${scope}`);
    expect(await answer(own)).toBe(`pinnace /boat/ v2: ${own}`);
    expect(await answer(older)).toBe(`pinnace /boat/ v1: ${older}`);
    expect(await answer('assets/index-99999999.js')).toBe('fetched');
  });

  it('deletes older builds of its own folder, but those of which a page is open', async () => {
    const stored = `${scope}assets/index-11111111.js`;
    const { caches, names } = fakeCaches({
      'pinnace /boat/ v0': [scope],
      'pinnace /boat/ v1': [stored],
      'pinnace /boat/ v2': [scope],
      'pinnace /boat/stern/ v0': [scope],
      'somebody else': [scope],
    });
    await setup({ caches, openScripts: () => Promise.resolve(new Set([stored])) }).tidy();
    expect(names()).toEqual(['pinnace /boat/ v1', 'pinnace /boat/ v2', 'pinnace /boat/stern/ v0', 'somebody else']);
  });

  it('deletes nothing while a newer one is being fetched', async () => {
    const { caches, names } = fakeCaches({ 'pinnace /boat/ v3': [scope] });
    await setup({ caches, hasNewer: () => true }).tidy();
    expect(names()).toEqual(['pinnace /boat/ v3']);
  });
});
