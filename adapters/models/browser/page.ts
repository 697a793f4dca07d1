/** The page's side of the browser's own model: only windows have the Prompt API, and runtimes work in workers. */

import { checkNames, optional } from '../../../src/base/check-options.ts';
import { toData } from '../../../src/base/errors.ts';
import { noBrowserModel, toBrowserModelError } from './failures.ts';
import { generate } from './generate.ts';
import { type BrowserModelAvailability, type PromptApi, promptApi, type PromptSessionOptions } from './prompt-api.ts';
import type { GenerateRequest, ToPage, ToWorker } from './protocol.ts';
import { createSessions, type Sessions } from './sessions.ts';

export type { BrowserModelAvailability, PromptApi };

/** How the model is used. */
export interface BrowserModelOptions {
  /** BCP 47 tags of the languages that it writes; `['en']` when absent. */
  readonly languages?: readonly string[];
  /** The Prompt API to use; the window's `LanguageModel` when absent. */
  readonly api?: PromptApi | undefined;
}

/** How the model is prepared. */
export interface PrepareOptions extends BrowserModelOptions {
  /** Receives the loaded share, from 0 to 1. */
  readonly onProgress?: (loaded: number) => void;
  /** Stops waiting. */
  readonly signal?: AbortSignal;
}

/** Returns whether the browser's model can answer. Downloads nothing. `unavailable` where the window has no Prompt API. */
export async function browserModelAvailability(options: BrowserModelOptions = {}): Promise<BrowserModelAvailability> {
  checkNames('ask for the model of the browser', options, optional('api', 'languages'));
  const { api = promptApi() } = options;
  return await api?.availability(sessionOptions(options)).catch(() => undefined) ?? 'unavailable';
}

/**
 * Downloads the browser's model where that is needed. Call it from a click: browsers start a download only after one.
 *
 * @throws PinnaceError `unavailable` (`no_browser_model`, `download_failed`), `forbidden` (`needs_gesture`), `cancelled`.
 * @example
 * await prepareBrowserModel({ onProgress: (loaded) => (bar.value = loaded) });
 */
export async function prepareBrowserModel(given: PrepareOptions = {}): Promise<void> {
  checkNames('prepare the model of the browser', given, optional('onProgress', 'signal', 'api', 'languages'));
  const { onProgress, signal, ...options } = given;
  const { api = promptApi() } = options;
  if (!api) throw noBrowserModel();
  try {
    const session = await api.create({
      ...sessionOptions(options),
      ...(signal && { signal }),
      monitor: (monitor) =>
        monitor.addEventListener('downloadprogress', (event) => onProgress?.((event as ProgressEvent).loaded)),
    });
    session.destroy();
  } catch (error) {
    throw toBrowserModelError(error);
  }
}

/**
 * Answers the model calls of a worker that has `browserModel` on the other end of the port. Returns what ends it; it also
 * ends with the other end of the port. The model runs on the user's device: nothing is sent over the network.
 *
 * @example
 * const { port1, port2 } = new MessageChannel();
 * serveBrowserModel(port1);
 * worker.postMessage({ model: port2 }, [port2]);
 */
export function serveBrowserModel(port: MessagePort, options: BrowserModelOptions = {}): () => void {
  checkNames('serve the model of the browser', options, optional('api', 'languages'));
  const running = new Map<number, AbortController>();
  let sessions: Sessions | undefined;
  const post = (message: ToWorker): void => port.postMessage(message);

  async function answer(id: number, request: GenerateRequest): Promise<void> {
    const abort = new AbortController();
    running.set(id, abort);
    try {
      const { api = promptApi() } = options;
      if (!api) throw noBrowserModel();
      sessions ??= createSessions(api, sessionOptions(options));
      const emit = (piece: Extract<ToWorker, { type: 'piece' }>['piece']): void => post({ type: 'piece', id, piece });
      post({ type: 'done', id, tokens: await generate(request, { sessions, signal: abort.signal, emit }) });
    } catch (error) {
      post({ type: 'failed', id, error: toData(toBrowserModelError(error)) });
    } finally {
      running.delete(id);
    }
  }

  port.addEventListener('message', ({ data }: MessageEvent<ToPage>) => {
    if (data.type === 'generate') void answer(data.id, data.request);
    else running.get(data.id)?.abort();
  });
  const end = (): void => {
    for (const abort of running.values()) abort.abort();
    sessions?.close();
    port.close();
  };
  port.addEventListener('close', end);
  port.start();
  return end;
}

function sessionOptions({ languages = ['en'] }: BrowserModelOptions): PromptSessionOptions {
  return { expectedOutputs: [{ type: 'text', languages }] };
}
