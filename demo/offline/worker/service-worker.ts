/**
 * Keeps the built page, so that it opens without a network. It answers for the files of the build and for the page alone: requests
 * of the page to models, servers and endpoints never pass through it.
 */

import type { Build } from './build-files.ts';
import { pageLock } from './page-lock.ts';
import { createPrecache } from './precache.ts';

/** Written before this script by the build. */
declare const pinnaceBuild: Build;

interface LastingEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}

interface Asked extends LastingEvent {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}

/** The part of `ServiceWorkerGlobalScope` that is used here; the types of a page do not know it. */
interface Scope {
  readonly registration: ServiceWorkerRegistration;
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: 'install' | 'activate', listener: (event: LastingEvent) => void): void;
  addEventListener(type: 'fetch', listener: (event: Asked) => void): void;
  addEventListener(type: 'message', listener: (event: LastingEvent & { readonly data: unknown }) => void): void;
}

const worker = globalThis as unknown as Scope; // it is one
const precache = createPrecache({
  build: pinnaceBuild,
  scope: worker.registration.scope,
  caches,
  fetch: (...asked) => fetch(...asked),
  hasNewer: () => Boolean(worker.registration.installing ?? worker.registration.waiting),
  async openScripts() {
    const { held = [] } = await navigator.locks.query();
    return new Set(held.flatMap(({ name = '' }) => name.startsWith(pageLock) ? [name.slice(pageLock.length)] : []));
  },
});

worker.addEventListener('install', (event) => event.waitUntil(precache.fill()));
worker.addEventListener('activate', (event) => event.waitUntil(Promise.all([worker.clients.claim(), precache.tidy()])));
worker.addEventListener('fetch', (event) => {
  if (!precache.isOurs(event.request)) return;
  const answer = precache.answer(event.request);
  event.respondWith(answer);
  event.waitUntil(answer.then(() => precache.keepDocs(event.request)).catch(() => undefined)); // later, then
});
worker.addEventListener('message', (event) => {
  if (event.data === 'take over') event.waitUntil(worker.skipWaiting());
  if (event.data === 'tidy') event.waitUntil(precache.tidy());
});
