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

/** The transcripts of those that are played, and those on record. */
async function played(runtime: Pick<HostedRuntime, 'run' | 'decide'>, isPlayed: (one: GoldenRequest) => boolean) {
  const transcripts: string[][] = [];
  for (const request of goldenRequests.filter(isPlayed)) {
    transcripts.push(
      await transcriptOf(request, {
        run: (one) => runtime.run(one, localPrincipal()),
        decide: (runId, approvalId, approved) => runtime.decide(runId, approvalId, { approved }, localPrincipal()),
      }),
    );
  }
  return { transcripts, recorded: golden.filter((_, i) => goldenRequests[i] && isPlayed(goldenRequests[i])) };
}

it('the golden requests give the transcripts on record in a Web Worker, with IndexedDB', async () => {
  const worker = new Worker(new URL('../fixtures/golden/golden-worker.ts', import.meta.url), { type: 'module' });
  await new Promise((resolve) => worker.addEventListener('message', resolve, { once: true }));
  const runtime = connectRuntime(worker);
  const { transcripts, recorded } = await played(runtime, (one) => !ofPage(one));
  expect(transcripts).toEqual(recorded);
  worker.terminate();
});

it('so does a page, to members of a group and over the end of a process', async () => {
  const page = await goldenRuntime({ storage: storageOf(), sandbox: workerSandbox() });
  const { transcripts, recorded } = await played(page, ofPage);
  expect(transcripts).toEqual(recorded);
  expect(await transcriptsInProcess(workerSandbox(), storageOf)).toEqual(golden.slice(goldenRequests.length));
});
