/**
 * Runs code in a worker that has nothing but the language. For browsers: there `terminate` ends a worker, whatever it does.
 *
 * Two walls stand around the code. The first is the same everywhere: the prelude takes away all that reaches out, in a realm whose
 * origin is its own, so that no storage, cache or lock of the page belongs to it. The second is a Content-Security-Policy, and a
 * worker made of data has that of its creator. In a page, a hidden frame makes it, whose policy allows no connection. A worker
 * has no frame: there the code runs under that worker's own policy, which came with its script (a page's `<meta>` does not reach
 * it), and which must let the agent reach its models. So in a worker the first wall stands alone, unless the policy that its
 * script is served with forbids connections to all but the few hosts that the agent needs.
 *
 * Memory has no limit here: a worker shares the memory of the page's process, and the web has no interface to limit it. The
 * prelude does not cap single allocations, because objects and texts in a loop take as much.
 */

import { prelude } from './prelude.ts';
import { invalidCode } from './reply.ts';
import { type Cell, createSandbox, type ProbedSandbox, type Spawn } from './sandbox.ts';
import { trustOwn } from './trusted.ts';

let rules: ReturnType<typeof trustOwn> | undefined;
/** One policy a realm: its name can be taken once. */
const trusted = (): ReturnType<typeof trustOwn> => rules ??= trustOwn();

/** Returns the sandbox for a page or a worker. Deno's workers continue an endless loop after `terminate`: there it is none. */
export function workerSandbox(): ProbedSandbox {
  return createSandbox(findSpawn());
}

function findSpawn(): Spawn | undefined {
  if (typeof Worker === 'undefined' || 'Deno' in globalThis) return undefined;
  if ('document' in globalThis) return spawnInFrame();
  return (...args) => Promise.resolve(startWorker(Worker, ...args)); // under the policy of this worker
}

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
  return { reply, end, linesBefore: 2 };
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
