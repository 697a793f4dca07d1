import { describe, expect, it } from 'vitest';
import { denoKvStorage } from '../../adapters/storage/deno-kv.ts';
import { crashEverywhere } from '../fixtures/plans/plan-crash-matrix.ts';
import { freshPath } from './deno-kv-fixture.ts';

describe('a plan over Deno KV', () => {
  for (const [parallelism, stride] of [[4, 1], [1, 3], [64, 2]] as const) {
    it(`comes to the same end in another process, dead beside a commit, ${parallelism} at once`, async () => {
      const open = async () => denoKvStorage({ path: ':memory:' });
      expect(await crashEverywhere({ open, parallelism, stride, limits: { snapshotEvents: 10 } })).toBeGreaterThan(10);
    }, 180_000);
  }
});

const worker = new URL('../fixtures/plans/plan-process-worker.ts', import.meta.url).pathname;

/** The output of a process before it ended; nothing when it killed itself. */
async function run(folder: string, env: Record<string, string>): Promise<Record<string, unknown> | undefined> {
  const process = new Deno.Command(Deno.execPath(), {
    args: ['run', '-A', '--unstable-kv', worker],
    env: { PLAN_FOLDER: folder, ...env },
    stdout: 'piped',
    stderr: 'piped',
  });
  const { success, signal, stdout, stderr } = await process.output();
  if (signal === 'SIGKILL') return undefined;
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout)) as Record<string, unknown>; // the worker's own
}

async function freshFolder(): Promise<string> {
  const folder = freshPath().replace(/\/[^/]*$/, '');
  await Deno.writeTextFile(`${folder}/effects`, '');
  return folder;
}

async function timesOf(folder: string): Promise<Map<string, number>> {
  const lines = (await Deno.readTextFile(`${folder}/effects`)).split('\n').filter((line) => line !== '');
  return new Map([...new Set(lines)].map((line) => [line, lines.filter((other) => other === line).length]));
}

describe('a plan whose process is killed', () => {
  it('is finished by another process, which repeats nothing that is unsafe', async () => {
    const whole = await run(await freshFolder(), {});
    expect(whole).toMatchObject({ state: 'done' });
    for (const death of ['after 1', 'before 5', 'after 6', 'before 7', 'after 8', 'after 9']) {
      const folder = await freshFolder();
      expect(await run(folder, { PLAN_DEATH: death }), death).toBeUndefined();
      const survived = await run(folder, { PLAN_CLOCK_SHIFT_MS: '60000' });
      expect(survived, death).toEqual(whole);
      for (const [step, times] of await timesOf(folder)) {
        if (step.startsWith('1-3#')) expect({ death, step, times }).toEqual({ death, step, times: 1 });
      }
    }
  }, 240_000);

  it('and waits for a person is answered in another process', async () => {
    const folder = await freshFolder();
    const suspended = await run(folder, { PLAN_STOP: 'suspended' });
    expect(suspended).toMatchObject({ state: 'suspended' });
    expect(await run(folder, {})).toMatchObject({ state: 'done' });
  }, 120_000);
});
