import { expect, it } from 'vitest';
import { connectRuntime } from '../../adapters/transport/comlink.ts';
import { type HostedRuntime, localPrincipal } from '../../src/index.ts';
import { type GoldenRequest, goldenRequests } from '../fixtures/golden/golden-requests.ts';
import { workerSandbox } from '../../adapters/sandbox/worker.ts';
import { indexedDbStorage } from '../../adapters/storage/indexeddb.ts';
import { goldenRuntime, transcriptOf, transcriptsInProcess } from '../fixtures/golden/golden.ts';
import golden from '../fixtures/golden/golden.json' with { type: 'json' };

/**
 * A Firefox that is driven from outside hangs now and then where a worker starts and ends many workers; by itself it does not. So
 * there the page plays the programs.
 */
const isDriven = navigator.userAgent.includes('Firefox/');
const ofPage = ({ request }: GoldenRequest) => isDriven && JSON.stringify(request.chat.messages).includes('/code_run');
const storageOf = () => indexedDbStorage({ name: `golden-${crypto.randomUUID()}` });

async function play(runtime: Pick<HostedRuntime, 'run' | 'decide'>, isPlayed: (one: GoldenRequest) => boolean) {
  for (const [i, request] of goldenRequests.entries()) {
    if (!isPlayed(request)) continue;
    const transcript = await transcriptOf(request, {
      run: (one) => runtime.run(one, localPrincipal()),
      decide: (runId, approvalId, approved) => runtime.decide(runId, approvalId, { approved }, localPrincipal()),
    });
    expect(transcript, request.request.agentId).toEqual(golden[i]);
  }
}

it('the golden requests give the transcripts on record in a Web Worker, with IndexedDB', async () => {
  const worker = new Worker(new URL('../fixtures/golden/golden-worker.ts', import.meta.url), { type: 'module' });
  await new Promise((resolve) => worker.addEventListener('message', resolve, { once: true }));
  const runtime = connectRuntime(worker);
  await play(runtime, (one) => !ofPage(one));
  worker.terminate();
});

it('so does a page, to members of a group and over the end of a process', async () => {
  await play(await goldenRuntime({ storage: storageOf(), sandbox: workerSandbox() }), ofPage);
  expect(await transcriptsInProcess(workerSandbox(), storageOf)).toEqual(golden.slice(goldenRequests.length));
});
