/** Keeps the files of one build in a cache of its own and answers from it. Whatever is no file of a build is none of its business. */

import type { Build, BuiltFile } from './build-files.ts';

/** What the service worker depends on. */
export interface PrecacheOptions {
  readonly build: Build;
  /** The page's folder, as a URL. */
  readonly scope: string;
  readonly caches: CacheStorage;
  readonly fetch: typeof fetch;
  /** The scripts of the pages that are open, in whatever version. */
  readonly openScripts: () => Promise<ReadonlySet<string>>;
  /** Whether a newer version is being fetched or waits. */
  readonly hasNewer: () => boolean;
}

export interface Precache {
  /** Fetches every file. Rejects when one is not what it was when it was built: then the server is between two versions. */
  fill(): Promise<void>;
  /** Fetches the guides, as `fill` does, where the request is for one of its pages. */
  keepDocs(request: Request): Promise<void>;
  /** Whether the request is for the page or a file of a build. */
  isOurs(request: Request): boolean;
  /** The file, from this build, else from an older one whose page is still open, else from the server. */
  answer(request: Request): Promise<Response>;
  /** Deletes older builds, but those of which a page is open. */
  tidy(): Promise<void>;
}

/** What bundlers call files that never change: builds before this one had such names too. */
const hashed = /^assets\/[\w.-]+-[\w-]{8}\.\w+$/;

export function createPrecache({ build, scope, caches, fetch, openScripts, hasNewer }: PrecacheOptions): Precache {
  const { origin, pathname: folder } = new URL(scope);
  const prefix = `pinnace ${folder} `;
  const own = prefix + build.version;
  const paths = new Set(build.files.map(({ path }) => path));
  const docs = new Map(build.docs.map((file) => [file.path, file]));

  /** Below the page's folder; `undefined`: elsewhere. */
  function pathOf(request: Request): string | undefined {
    const url = new URL(request.url);
    return url.origin === origin && url.pathname.startsWith(folder) ? url.pathname.slice(folder.length) : undefined;
  }

  /** A page or picture of the documentation; a folder's page has two names. */
  function docOf(request: Request): BuiltFile | undefined {
    const path = pathOf(request)?.replace(/\/$/, '/index.html') ?? '';
    return request.mode === 'navigate' || !request.url.includes('?') ? docs.get(path) : undefined;
  }

  async function keep({ path, integrity }: BuiltFile): Promise<void> {
    const cache = await caches.open(own);
    const url = new URL(path, scope).href;
    if (await cache.match(url)) return; // an earlier try got so far
    const isPage = path === '' || path.endsWith('.html');
    const response = await fetch(url, { integrity, cache: isPage ? 'no-cache' : 'default' });
    if (!response.ok) throw new Error(`The server answers ${response.status} for ${url}`);
    await cache.put(url, unredirected(response));
  }

  return {
    async fill() {
      await Promise.all(build.files.map(keep));
    },
    async keepDocs(request) {
      if (request.mode !== 'navigate' || !docOf(request)) return;
      await Promise.all(build.docs.filter(({ path }) => /^docs\/[\w-]+\.(?:html|css|js)$/.test(path)).map(keep));
    },
    isOurs(request) {
      const path = request.method === 'GET' ? pathOf(request) : undefined;
      if (path === undefined) return false;
      if (docOf(request)) return true;
      if (request.mode === 'navigate') return path === '' || path === 'index.html';
      return !request.url.includes('?') && path !== '' && (paths.has(path) || hashed.test(path));
    },
    async answer(request) {
      const doc = docOf(request);
      if (doc) {
        await keep(doc).catch(() => undefined); // no network, or another version there
        const stored = await (await caches.open(own)).match(new URL(doc.path, scope).href, { ignoreVary: true });
        return stored ?? await fetch(request);
      }
      const url = request.mode === 'navigate' ? scope : new URL(pathOf(request) ?? '', scope).href;
      const found = await (await caches.open(own)).match(url, { ignoreVary: true });
      return found ?? await caches.match(url, { ignoreVary: true }) ?? await fetch(request);
    },
    async tidy() {
      const others = (await caches.keys()).filter((name) => name.startsWith(prefix) && name !== own);
      if (hasNewer()) return; // one of them is being filled
      const scripts = await openScripts();
      await Promise.all(others.map(async (name) => {
        const files = await (await caches.open(name)).keys();
        if (!files.some(({ url }) => scripts.has(url))) await caches.delete(name);
      }));
    },
  };
}

/** A page cannot be opened from an answer that a redirect led to. */
function unredirected(response: Response): Response {
  if (!response.redirected) return response;
  const { body, status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}
