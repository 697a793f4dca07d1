import { wrap } from 'comlink';
import { afterAll, describe, expect, it } from 'vitest';
import type { ProbedSandbox } from '../../adapters/sandbox/sandbox.ts';
import { workerSandbox } from '../../adapters/sandbox/worker.ts';
import { fromData } from '../../src/errors.ts';
import { describeSandbox } from '../fixtures/sandbox.ts';
import type { SandboxHost } from './sandbox-host.ts';

const url = `${location.origin}/nobody-may-reach-this`;
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

describe('workerSandbox in a worker', () => {
  describeSandbox(sandboxInWorker(), url);
});

describe('workerSandbox', () => {
  it('has a second wall in a page: a policy under which even what was taken away reaches nothing', async () => {
    await workerSandbox().isReady();
    const frame = document.querySelector('iframe[hidden]') as HTMLIFrameElement;
    const { Worker: WorkerOfFrame } = frame.contentWindow as unknown as { readonly Worker: typeof Worker };
    expect(await fetchIn(WorkerOfFrame)).toBe('TypeError');
    expect(await fetchIn(Worker)).toBe('reached'); // so it is the policy that stops it
  });

  it('was not heard, and asked for nothing', () => {
    expect(heard).toEqual([]);
    expect(performance.getEntriesByName(url)).toEqual([]);
  });
});

function fetchIn(WorkerOfRealm: typeof Worker): Promise<unknown> {
  const target = JSON.stringify(`${location.origin}/favicon.ico`);
  const code = `fetch(${target}, { mode: 'no-cors' }).then(() => postMessage('reached'), (e) => postMessage(e.name));`;
  const worker = new WorkerOfRealm(`data:text/javascript,${encodeURIComponent(code)}`, { type: 'module' });
  return new Promise((resolve) => worker.addEventListener('message', ({ data }) => resolve(data)));
}
