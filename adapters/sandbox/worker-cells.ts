/** Cells of code in workers, as `worker.ts` describes them. */

import { prelude } from './prelude.ts';
import { invalidCode } from './reply.ts';
import type { Cell, Spawn } from './sandbox.ts';
import { trustOwn } from './trusted.ts';

let rules: ReturnType<typeof trustOwn> | undefined;
/** One policy per realm: its name can be used once. */
const trusted = (): ReturnType<typeof trustOwn> => rules ??= trustOwn();

/** Returns what starts cells in this realm. Deno has none: `terminate` does not end an endless loop there. */
export function findSpawn(): Spawn | undefined {
  if (typeof Worker === 'undefined' || 'Deno' in globalThis) return undefined;
  if ('document' in globalThis) return spawnInFrame();
  return (...args) => Promise.resolve(startWorker(Worker, ...args)); // under the policy of this worker
}

/** What {@link startWorker} puts before the code. */
export const linesBefore = 2;

/**
 * A worker from a `data:` URL has an origin of its own: no storage of the page belongs to it. It cannot load a module later
 * without a policy that lets pages do so too: so the code's module imports the prelude, which has run to its end before.
 */
function startWorker(WorkerOfRealm: typeof Worker, ...[code, settings]: Parameters<Spawn>): Cell {
  const from = JSON.stringify(toDataUrl(prelude(settings)));
  const url = toDataUrl(`import { run } from ${from};\nrun(async (input) => {\n${code}\n});\n`);
  const { promise: reply, resolve, reject } = Promise.withResolvers<unknown>();
  const start = (mayTryAgain: boolean): Worker => {
    const started = new WorkerOfRealm(trusted().createScriptURL(url), { type: 'module' });
    started.addEventListener('message', ({ data }: MessageEvent<unknown>) => resolve(data));
    started.addEventListener('messageerror', () => resolve(undefined));
    started.addEventListener('error', (event) => {
      event.preventDefault(); // the caller receives it; the console would show code and input
      // Without a message the script could not be read, or a browser under load could not load it: nothing of it has run.
      if (mayTryAgain && !ended && !(event instanceof ErrorEvent)) worker = start(false);
      else reject(invalidCode('it is not the body of an async function'));
    });
    return started;
  };
  let ended = false;
  let worker = start(true);
  const end = (): void => {
    ended = true;
    worker.terminate();
  };
  return { reply, end, linesBefore };
}

function toDataUrl(source: string): string {
  return `data:text/javascript;charset=utf-8,${encodeURIComponent(source)}`;
}

/** What a worker of the frame may load: its own two modules, and nothing else from anywhere. */
const policy = "default-src 'none'; worker-src data:";

/** A worker has the policy of the document that makes it: so one without content makes it, whose policy allows no connection. */
function spawnInFrame(): Spawn {
  let frame: Promise<HTMLIFrameElement> | undefined;
  return async (code, settings) => {
    frame ??= loadFrame();
    const { contentWindow } = await frame;
    // The type of a window leaves out what is global in it.
    const { Worker: WorkerOfFrame } = contentWindow as unknown as { readonly Worker: typeof Worker };
    return startWorker(WorkerOfFrame, code, settings);
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
