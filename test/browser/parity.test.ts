import { expect, it } from 'vitest';
import { connectRuntime } from '../../adapters/transport/comlink.ts';
import { localPrincipal } from '../../src/index.ts';
import { goldenRequests, transcriptOf } from '../fixtures/golden.ts';
import golden from '../fixtures/golden.json' with { type: 'json' };

it('the golden requests give the transcripts on record in a Web Worker, with IndexedDB', async () => {
  const worker = new Worker(new URL('../fixtures/golden-worker.ts', import.meta.url), { type: 'module' });
  const runtime = connectRuntime(worker);
  for (const [i, request] of goldenRequests.entries()) {
    expect(await transcriptOf(() => runtime.run(request, localPrincipal()))).toEqual(golden[i]);
  }
  worker.terminate();
});
