/** Keeps the files of one build in a cache of its own and answers from it. Whatever is no file of a build is none of its business. */

import type { Build } from './build-files.ts';

/** What the service worker stands on. */
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

/** The files of one build. */
export interface Precache {
  /** Fetches every file. Rejects when one is not what it was when it was built: then the server is between two versions. */
  fill(): Promise<void>;
  /** Whether the request is for the page or a file of a build. */
  isOurs(request: Request): boolean;
  /** The file, from this build, else from an older one whose page is still open, else from the server. */
  answer(request: Request): Promise<Response>;
  /** Deletes older builds, but those of which a page is open. */
  tidy(): Promise<void>;
}

/** What bundlers call files that never change: builds before this one had such names too. */
const hashed = /^assets\/[\w.-]+-[\w-]{8}\.\w+$/;

/** Gives the cache of this build. */
export function createPrecache({ build, scope, caches, fetch, openScripts, hasNewer }: PrecacheOptions): Precache {
  const { origin, pathname: folder } = new URL(scope);
  const prefix = `pinnace ${folder} `;
  const own = prefix + build.version;
  const paths = new Set(build.files.map(({ path }) => path));

  /** Below the page's folder; `undefined`: elsewhere. */
  function pathOf(request: Request): string | undefined {
    const url = new URL(request.url);
    return url.origin === origin && url.pathname.startsWith(folder) ? url.pathname.slice(folder.length) : undefined;
  }

  return {
    async fill() {
      const cache = await caches.open(own);
      await Promise.all(build.files.map(async ({ path, integrity }) => {
        const url = new URL(path, scope).href;
        if (await cache.match(url)) return; // an earlier try got so far
        const response = await fetch(url, { integrity, cache: path === '' ? 'no-cache' : 'default' });
        if (!response.ok) throw new Error(`The server answers ${response.status} for ${url}`);
        await cache.put(url, unredirected(response));
      }));
    },
    isOurs(request) {
      const path = request.method === 'GET' ? pathOf(request) : undefined;
      if (path === undefined) return false;
      if (request.mode === 'navigate') return path === '' || path === 'index.html';
      return !request.url.includes('?') && path !== '' && (paths.has(path) || hashed.test(path));
    },
    async answer(request) {
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
