import { wrap } from 'comlink';
import { afterAll, describe, expect, inject, it } from 'vitest';
import type { ProbedSandbox } from '../../adapters/sandbox/sandbox.ts';
import { workerSandbox } from '../../adapters/sandbox/worker.ts';
import { fromData } from '../../src/base/errors.ts';
import { budget } from '../fixtures/budget.ts';
import { describeHandles } from '../fixtures/sandbox/handle-sandbox.ts';
import { describeProgramSandbox } from '../fixtures/sandbox/program-sandbox.ts';
import { describeSandbox } from '../fixtures/sandbox/sandbox.ts';
import type { SandboxHost } from './sandbox-host.ts';

const { watched } = inject('peers');
const path = `/nobody-may-reach-this-${crypto.randomUUID()}`;
const url = `${watched}${path}`;
const heard: unknown[] = [];
const channel = new BroadcastChannel('escape');
channel.addEventListener('message', ({ data }) => heard.push(data));

afterAll(() => {
  channel.close();
});

/** The sandbox of a worker, called from the page. Signals do not cross: the page ends the wait by itself. */
function sandboxInWorker(): ProbedSandbox {
  const host = wrap<SandboxHost>(new Worker(new URL('./sandbox-host.ts', import.meta.url), { type: 'module' }));
  return {
    async run(code, { input, timeoutMs, signal }) {
      const cancelled = fromData({ code: 'cancelled', message: 'The page went on', retryable: false });
      if (signal.aborted) throw cancelled;
      const aborted = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(cancelled)));
      const { output, error } = await Promise.race([aborted, host.run(code, { input, timeoutMs })]);
      if (error) throw fromData(error);
      return output;
    },
    isReady: () => Promise.resolve(true),
  };
}

describe('workerSandbox in a page', () => {
  describeSandbox(workerSandbox(), url);
});

describe('programs of workerSandbox in a page', () => {
  describeProgramSandbox(workerSandbox(), url);
  describeHandles(workerSandbox(), budget({ short: 100, long: 1_000 }));
});

describe('workerSandbox in a worker', () => {
  describeSandbox(sandboxInWorker(), url);
});

describe('workerSandbox', () => {
  it('has a second wall in a page: a policy under which even what was taken away reaches nothing', async () => {
    const strict = await workerOfFrame();
    expect(await answerOf(made(strict, fetching))).toBe('TypeError');
    expect(await answerOf(made(Worker, fetching))).toBe('reached'); // so it is the policy that stops it
  });

  it('has in a worker the policy of that worker: a second wall only where it allows no connection', async () => {
    const strict = await workerOfFrame();
    expect(await answerOf(made(strict, nested(fetching)))).toBe('TypeError');
    expect(await answerOf(made(Worker, nested(fetching)))).toBe('reached');
  });

  it('has no storage in a worker, and no origin that anyone has', async () => {
    const asking = `(async () => {
      const tries = [() => indexedDB.open('x'), () => caches.open('x'), () => navigator.locks.request('x', () => 'locked')];
      const failed = await Promise.all(tries.map(async (one) => { try { await one(); return 'opened'; } catch (e) { return e.name; } }));
      postMessage([self.origin, ...failed].join(' '));
    })()`;
    const host = URL.createObjectURL(new Blob([nested(asking)], { type: 'text/javascript' })); // of the page's origin
    expect(await answerOf(new Worker(host, { type: 'module' }))).toBe('null SecurityError SecurityError SecurityError');
  });

  it('was rejected, and reached no server', async () => {
    expect(heard).toEqual([]);
    expect(await countOf(path)).toBe(0);
    const control = `/control-${crypto.randomUUID()}`;
    await fetch(`${watched}${control}`);
    expect(await countOf(control)).toBe(1);
  });
});

async function countOf(asked: string): Promise<number> {
  return Number(await (await fetch(`${watched}/count?path=${asked}`)).text());
}

/** The workers that the sandbox's hidden frame makes. */
async function workerOfFrame(): Promise<typeof Worker> {
  await workerSandbox().isReady();
  const frame = document.querySelector('iframe[hidden]') as HTMLIFrameElement;
  return (frame.contentWindow as unknown as { readonly Worker: typeof Worker }).Worker;
}

/** Code that says whether a connection was made. */
const fetching = `fetch(${JSON.stringify(`${watched}/wall`)}, { mode: 'no-cors' })
  .then(() => postMessage('reached'), (error) => postMessage(error.name));`;

/** Code that has the code run by a worker of its own, as the sandbox of a worker does. */
function nested(code: string): string {
  return `new Worker(${
    JSON.stringify(dataUrl(code))
  }, { type: 'module' }).onmessage = ({ data }) => postMessage(data);`;
}

function dataUrl(code: string): string {
  return `data:text/javascript,${encodeURIComponent(code)}`;
}

function made(WorkerOfRealm: typeof Worker, code: string): Worker {
  return new WorkerOfRealm(dataUrl(code), { type: 'module' });
}

function answerOf(worker: Worker): Promise<unknown> {
  return new Promise((resolve) => worker.addEventListener('message', ({ data }) => resolve(data)));
}
