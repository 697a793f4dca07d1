/** The page's side of its service worker: registers it and reports new versions. */

import type { Offline } from './offline.ts';
import { ownScript } from '../../control/trusted.ts';
import { pageLock } from '../worker/page-lock.ts';

/** How often an open page checks for a new version. */
const askEveryMs = 3_600_000;

/** Registers the service worker for offline use. Rejects where the browser refuses; the page works without it. */
export async function keepOffline({ isStored, newVersion }: Offline): Promise<void> {
  const { serviceWorker } = navigator;
  if (!serviceWorker) return; // no https, or a private window
  void navigator.locks.request(pageLock + entryScript(), { mode: 'shared' }, () => new Promise(() => {})); // as long as the page is
  const hadController = serviceWorker.controller !== null;
  const registration: ServiceWorkerRegistration | undefined = await serviceWorker.register(
    ownScript('./service-worker.js'),
    { updateViaCache: 'none' },
  );
  if (!registration) return; // something in the browser blocks it
  const look = (): void => {
    isStored.value = registration.active !== null;
    if (registration.waiting && registration.active) newVersion.value = { take: () => takeOver(registration) };
  };
  watchInstalling(registration, look);
  look();
  if (hadController) serviceWorker.addEventListener('controllerchange', () => offerReload(newVersion), { once: true });
  registration.active?.postMessage('tidy');
  askAgain(registration);
}

/** Every build has another. */
function entryScript(): string {
  return document.querySelector<HTMLScriptElement>('script[type=module][src]')?.src ?? '';
}

function watchInstalling(registration: ServiceWorkerRegistration, look: () => void): void {
  const follow = (): void => registration.installing?.addEventListener('statechange', look);
  registration.addEventListener('updatefound', follow);
  follow();
}

/** Lets the new version answer, then loads its page. */
function takeOver({ waiting }: ServiceWorkerRegistration): void {
  if (!waiting) return location.reload();
  navigator.serviceWorker.addEventListener('controllerchange', () => location.reload(), { once: true });
  waiting.postMessage('take over');
}

/** Another tab has let the new version in: this page still is the old one. */
function offerReload(newVersion: Offline['newVersion']): void {
  newVersion.value = { take: () => location.reload() };
}

function askAgain(registration: ServiceWorkerRegistration): void {
  let asked = Date.now();
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState !== 'visible' || Date.now() - asked < askEveryMs) return;
    asked = Date.now();
    void registration.update().catch(() => undefined); // offline
  });
}
