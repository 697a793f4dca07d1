import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { expect, it } from 'vitest';
import { memoryStorage } from '../../adapters/storage/memory.ts';
import { localPrincipal } from '../../src/index.ts';
import { goldenRequests } from '../fixtures/golden/golden-requests.ts';
import { nodeSandbox } from '../../adapters/sandbox/node.ts';
import { goldenRuntime, transcriptOf, transcriptsInProcess } from '../fixtures/golden/golden.ts';

const file = join(import.meta.dirname, '../fixtures/golden/golden.json');

it('the golden requests give the transcripts on record in Node', async () => {
  const sandbox = nodeSandbox();
  const runtime = await goldenRuntime({ storage: memoryStorage(), sandbox });
  const transcripts: string[][] = [];
  for (const request of goldenRequests) {
    transcripts.push(
      await transcriptOf(request, {
        run: (one) => runtime.run(one, localPrincipal()),
        decide: (runId, approvalId, approved) => runtime.decide(runId, approvalId, { approved }, localPrincipal()),
      }),
    );
  }
  transcripts.push(...await transcriptsInProcess(sandbox, memoryStorage));
  if (process.env['UPDATE_GOLDEN']) await writeFile(file, `${JSON.stringify(transcripts, null, 1)}\n`);
  expect(transcripts).toEqual(JSON.parse(await readFile(file, 'utf8')));
  expect(transcripts.length).toBeGreaterThanOrEqual(150);
});
