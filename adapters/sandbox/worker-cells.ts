/** Cells of code in workers, as `worker.ts` describes them. */

import type { PinnaceError } from '../../src/base/errors.ts';
import { loadOnce } from '../../src/base/load-once.ts';
import { invalidCode } from './reply.ts';
import type { Cell, Spawn } from './sandbox.ts';

const loadPrelude = /* @__PURE__ */ loadOnce(() => import('./prelude.ts'));

let trustedRules: Rules | undefined;
/** One policy per realm: its name can be used once. */
const trusted = (): Rules => trustedRules ??= trustOwn();

/** Returns the constructor of workers, in a realm with the strictest policy that there is. */
export type Realm = () => Promise<typeof Worker>;

/** Returns the workers of this realm. Deno has none: `terminate` does not end an endless loop there. */
export function findRealm(): Realm | undefined {
  if (typeof Worker === 'undefined' || 'Deno' in globalThis) return undefined;
  if ('document' in globalThis) return workersOfFrame();
  return () => Promise.resolve(Worker); // under the policy of this worker
}

/** Returns what starts cells in this realm; `undefined` in Deno. */
export function findSpawn(): Spawn | undefined {
  const realm = findRealm();
  return realm && (async (...args) => await startWorker(await realm(), ...args));
}

/** What {@link startModule} puts before the code. */
export const linesBefore = 2;

/**
 * A worker from a `data:` URL has an origin of its own: no storage of the page belongs to it. It cannot load a module later
 * without a policy that lets pages do so too: so the code's module imports the prelude, which has run to its end before.
 */
async function startWorker(WorkerOfRealm: typeof Worker, ...[code, settings]: Parameters<Spawn>): Promise<Cell> {
  const { prelude } = await loadPrelude();
  const { promise: reply, resolve, reject } = Promise.withResolvers<unknown>();
  const source = { prelude: prelude(settings), parameter: 'input', code };
  const end = startModule(WorkerOfRealm, source, { onMessage: resolve, onFailure: reject }).end;
  return { reply, end, linesBefore };
}

/** The code and what runs before it. */
interface CodeModule {
  readonly prelude: string;
  readonly parameter: string;
  readonly code: string;
}

/** Starts the module in a worker, and a second time where the browser could not load it. */
export function startModule(
  WorkerOfRealm: typeof Worker,
  { prelude: before, parameter, code }: CodeModule,
  { onMessage, onFailure }: {
    readonly onMessage: (data: unknown) => void;
    readonly onFailure: (error: PinnaceError) => void;
  },
): { readonly post: (text: string) => void; readonly end: () => void } {
  const from = JSON.stringify(toDataUrl(before));
  const url = toDataUrl(`import { run } from ${from};\nrun(async (${parameter}) => {\n${code}\n});\n`);
  const sent: string[] = [];
  const start = (mayTryAgain: boolean): Worker => {
    const started = new WorkerOfRealm(trusted().createScriptURL(url), { type: 'module' });
    started.addEventListener('message', ({ data }: MessageEvent<unknown>) => onMessage(data));
    started.addEventListener('messageerror', () => onMessage(undefined));
    started.addEventListener('error', (event) => {
      event.preventDefault(); // the caller receives it; the console would show code and input
      // Without a message the script could not be read, or a browser under load could not load it: nothing of it has run.
      if (mayTryAgain && !ended && !(event instanceof ErrorEvent)) {
        worker = start(false);
        for (const text of sent) worker.postMessage(text);
      } else onFailure(invalidCode('it is not the body of an async function'));
    });
    return started;
  };
  let ended = false;
  let worker = start(true);
  return {
    post(text) {
      if (sent.length === 0) sent.push(text); // the settings: before them, nothing runs
      worker.postMessage(text);
    },
    end() {
      ended = true;
      worker.terminate();
    },
  };
}

function toDataUrl(source: string): string {
  return `data:text/javascript;charset=utf-8,${encodeURIComponent(source)}`;
}

/** What a worker of the frame may load: its own two modules, and nothing else from anywhere. */
const policy = "default-src 'none'; worker-src data:";

/** A worker has the policy of the document that makes it: so one without content makes it, whose policy allows no connection. */
function workersOfFrame(): Realm {
  let frame: Promise<HTMLIFrameElement> | undefined;
  return async () => {
    frame ??= loadFrame();
    const { contentWindow } = await frame;
    // The type of a window leaves out what is global in it.
    return (contentWindow as unknown as { readonly Worker: typeof Worker }).Worker;
  };
}

function loadFrame(): Promise<HTMLIFrameElement> {
  const frame = document.createElement('iframe');
  frame.hidden = true;
  frame.srcdoc = trusted().createHTML(`<meta http-equiv="Content-Security-Policy" content="${policy}">`);
  return new Promise((resolve) => {
    frame.addEventListener('load', () => resolve(frame), { once: true });
    document.documentElement.append(frame);
  });
}

/** The part of Trusted Types used here. Only browsers have it. */
interface TrustedTypePolicies {
  createPolicy<Rules>(name: string, rules: Rules): Rules;
}

interface Rules {
  readonly createHTML: (html: string) => string;
  readonly createScriptURL: (url: string) => string;
}

/**
 * Returns the functions that mark the sandbox's frame and modules as trusted. The browser rejects all others.
 *
 * Throws if the policy is forbidden, or if another script has created it.
 */
function trustOwn(): Rules {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypePolicies };
  const rules: Rules = { createHTML: (html) => html, createScriptURL: (url) => url };
  return trustedTypes?.createPolicy('pinnace-sandbox', rules) ?? rules;
}
