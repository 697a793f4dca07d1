/** Whether the browser has a model of its own, and its download. */

import { type ReadonlySignal, signal } from '@preact/signals';
import { toData } from '../../../src/base/errors.ts';
import {
  type BrowserModelAvailability,
  browserModelAvailability,
  prepareBrowserModel,
  type PromptApi,
} from '../../../adapters/models/browser/page.ts';
import { describeBrowserProblem } from './browser-problem.ts';

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
