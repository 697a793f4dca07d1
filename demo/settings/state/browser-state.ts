/** Whether the browser has a model of its own, and its download. */

import { type ReadonlySignal, signal } from '@preact/signals';
import {
  type BrowserModelAvailability,
  browserModelAvailability,
  prepareBrowserModel,
  type PromptApi,
} from '../../../adapters/models/browser/page.ts';
import { type ErrorData, toData } from '../../../src/base/errors.ts';

/** The browser's model as the dialog shows it. */
export interface BrowserState {
  /** `undefined` until the browser has answered. */
  readonly availability: ReadonlySignal<BrowserModelAvailability | undefined>;
  /** The loaded share, from 0 to 1, while it is downloaded. */
  readonly loaded: ReadonlySignal<number | undefined>;
  /** Why the download failed. */
  readonly problem: ReadonlySignal<string | undefined>;
  check(): Promise<void>;
  /** Call it from a click. */
  download(): Promise<void>;
  /** Stops waiting for the download; the browser may continue it. */
  stop(): void;
}

/** Creates the state. Asks the browser nothing before `check`. */
export function createBrowserState(api?: PromptApi): BrowserState {
  const availability = signal<BrowserModelAvailability | undefined>(undefined);
  const loaded = signal<number | undefined>(undefined);
  const problem = signal<string | undefined>(undefined);
  let abort: AbortController | undefined;

  async function check(): Promise<void> {
    availability.value = await browserModelAvailability({ api });
  }

  return {
    availability,
    loaded,
    problem,
    check,
    async download() {
      abort = new AbortController();
      const { signal: stopped } = abort;
      loaded.value = 0;
      problem.value = undefined;
      try {
        await prepareBrowserModel({ api, signal: stopped, onProgress: (share) => void (loaded.value = share) });
      } catch (error) {
        if (!stopped.aborted) problem.value = describeBrowserProblem(toData(error));
      }
      loaded.value = undefined;
      await check();
    },
    stop: () => abort?.abort(),
  };
}

const byReason: Readonly<Record<string, string>> = {
  needs_gesture: 'The browser starts the download only after a click. Press the button again.',
  download_failed: 'The browser could not download its model. Check your connection and that 22 GB of disk are free.',
  no_browser_model: 'This browser has no built-in model.',
};

/** Returns what went wrong and what to do. */
function describeBrowserProblem({ message, details }: ErrorData): string {
  const reason = details?.['reason'];
  const known = typeof reason === 'string' && Object.hasOwn(byReason, reason) ? byReason[reason] : undefined;
  return known ?? `${message}. Try again.`;
}
