import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createMetrics } from '../../../src/base/metrics.ts';
import { localPrincipal } from '../../../src/index.ts';
import { countedStorage } from '../../../src/log/answering-storage.ts';
import { says, scriptedModel, streamOf } from '../../fixtures/model.ts';
import { readAll, runRequest, testRuntime } from '../../fixtures/runtime.ts';

const linesOf = (text: string): readonly string[] =>
  text.split('\n').filter((line) => line.startsWith('pinnace_storage'));

describe('countedStorage', () => {
  it('counts a commit by its first key, and each key that it writes', async () => {
    const metrics = createMetrics();
    const storage = countedStorage(memoryStorage(), metrics);
    const created = await storage.commit([{ key: ['run', 'r1'], value: 1 }, { key: ['chat', 'c1'], value: 1 }]);
    const ifVersion = created.ok ? created.version : '';
    await storage.commit([{ key: ['run', 'r1'], ifVersion, keep: true }, { key: ['run', 'r1', 'j'], value: 1 }]);
    expect((await storage.get(['run', 'r1', 'j']))?.value).toBe(1);
    expect(linesOf(metrics.text())).toEqual([
      'pinnace_storage_commits_total{of="run"} 2',
      'pinnace_storage_keys_total{of="run"} 2',
      'pinnace_storage_keys_total{of="chat"} 1',
    ]);
  });

  it('counts what a run writes: few commits and keys', async () => {
    const { model } = scriptedModel(() => streamOf(says('The bilge ', 'is ', 'dry')));
    const runtime = testRuntime({ model });
    await readAll(await runtime.run(runRequest(), localPrincipal(), {}));
    const figures = linesOf(runtime.metrics.text()).filter((line) => line.includes('of="run"'));
    const valueOf = (name: string) => Number(figures.find((line) => line.startsWith(name))?.split(' ').at(-1));
    expect(valueOf('pinnace_storage_commits_total')).toBeGreaterThanOrEqual(2);
    expect(valueOf('pinnace_storage_commits_total')).toBeLessThanOrEqual(4);
    expect(valueOf('pinnace_storage_keys_total')).toBeLessThanOrEqual(7);
  });
});
