import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { simulate, toText } from '../../../src/simulation/index.ts';
import { appOver } from '../../fixtures/simulation/app.ts';

describe('a simulation', () => {
  it('finds nothing wrong with an app over a storage that keeps its rules', async () => {
    const t = performance.now();
    const report = await simulate({ ...appOver(memoryStorage), seeds: 1500, maxFailures: 100 });
    console.log(toText(report), performance.now() - t);
    expect(report).toMatchObject({ ok: true, scenarios: 1500 });
  });
});
