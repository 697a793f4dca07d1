import { describe, expect, it } from 'vitest';
import { denoSandbox } from '../../adapters/sandbox/deno.ts';
import { workerSandbox } from '../../adapters/sandbox/worker.ts';
import { describeProcessSandbox } from '../fixtures/sandbox/process-sandbox.ts';
import { programTerms } from '../fixtures/sandbox/program-sandbox.ts';
import { outcomeOf, terms } from '../fixtures/sandbox/sandbox.ts';

await describeProcessSandbox(denoSandbox);

describe('workerSandbox', () => {
  it('runs nothing on Deno', async () => {
    expect(await outcomeOf(workerSandbox().run('return 1', terms()))).toBe('unavailable: not_isolated');
    expect(await workerSandbox().isReady()).toBe(false);
    expect(await outcomeOf(workerSandbox().open('return 1', programTerms()))).toBe('unavailable: not_isolated');
  });
});
