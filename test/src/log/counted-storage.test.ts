import { describe, expect, it } from 'vitest';
import { localPrincipal } from '../../../src/index.ts';
import { says, scriptedModel, streamOf } from '../../fixtures/model.ts';
import { readAll, runRequest, testRuntime } from '../../fixtures/runtime.ts';

const linesOf = (text: string): readonly string[] =>
  text.split('\n').filter((line) => line.startsWith('pinnace_storage'));

describe('countedStorage', () => {
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
