import { expect, it } from 'vitest';
import { connectRuntime } from '../../adapters/transport/comlink.ts';
import { localPrincipal } from '../../src/index.ts';
import { goldenRequests } from '../fixtures/golden/golden-requests.ts';
import { workerSandbox } from '../../adapters/sandbox/worker.ts';
import { indexedDbStorage } from '../../adapters/storage/indexeddb.ts';
import { transcriptOf, transcriptsInProcess } from '../fixtures/golden/golden.ts';
import golden from '../fixtures/golden/golden.json' with { type: 'json' };

it('the golden requests give the transcripts on record in a Web Worker, with IndexedDB', async () => {
  const worker = new Worker(new URL('../fixtures/golden/golden-worker.ts', import.meta.url), { type: 'module' });
  await new Promise((resolve) => worker.addEventListener('message', resolve, { once: true }));
  const runtime = connectRuntime(worker);
  for (const [i, request] of goldenRequests.entries()) {
    const transcript = await transcriptOf(request, {
      run: (one) => runtime.run(one, localPrincipal()),
      decide: (runId, approvalId, approved) => runtime.decide(runId, approvalId, { approved }, localPrincipal()),
    });
    expect(transcript, request.request.agentId).toEqual(golden[i]);
  }
  worker.terminate();
});

it('so does a page, to members of a group and over the end of a process', async () => {
  const storageOf = () => indexedDbStorage({ name: `golden-${crypto.randomUUID()}` });
  expect(await transcriptsInProcess(workerSandbox(), storageOf)).toEqual(golden.slice(goldenRequests.length));
});
