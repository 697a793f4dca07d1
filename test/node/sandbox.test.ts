import { describe, expect, it } from 'vitest';
import { denoSandbox } from '../../adapters/sandbox/deno.ts';
import { workerSandbox } from '../../adapters/sandbox/worker.ts';
import { outcomeOf, terms } from '../fixtures/sandbox/sandbox.ts';

describe('a sandbox', () => {
  it.each([denoSandbox, workerSandbox])('runs nothing on Node: %o', async (make) => {
    expect(await outcomeOf(make().run('return 1', terms()))).toBe('unavailable: not_isolated');
    expect(await make().isReady()).toBe(false);
  });
});
