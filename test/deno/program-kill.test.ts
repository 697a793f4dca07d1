import { describe, expect, inject, it } from 'vitest';
import { budget } from '../fixtures/budget.ts';
import { freshPath } from './deno-kv-fixture.ts';

const worker = new URL('../fixtures/processes/program-process-worker.ts', import.meta.url).pathname;
const names = ['ada', 'bob', 'cy'];
/** Between one commit and the next beside which a process is killed: others each time. */
const step = budget({ short: 4, long: 1 });

/** What a process printed: the result of the program, or that the run had ended before. */
interface Printed {
  readonly result?: readonly unknown[];
  readonly state?: 'completed';
}

/** What the process printed; `undefined` when it killed itself. */
async function run(folder: string, env: Record<string, string> = {}): Promise<Printed | undefined> {
  const process = new Deno.Command(Deno.execPath(), {
    args: ['run', '-A', '--unstable-kv', worker],
    env: { PROGRAM_FOLDER: folder, ...env },
    stdout: 'piped',
    stderr: 'piped',
  });
  const { success, signal, stdout, stderr } = await process.output();
  if (signal === 'SIGKILL') return undefined;
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout)) as Printed; // the worker's own
}

async function freshFolder(): Promise<string> {
  const folder = freshPath().replace(/\/[^/]*$/, '');
  await Deno.writeTextFile(`${folder}/effects`, '');
  return folder;
}

const sentIn = async (folder: string): Promise<readonly string[]> =>
  (await Deno.readTextFile(`${folder}/effects`)).split('\n').filter((line) => line !== '');

describe('a program whose process is killed (SIGKILL)', () => {
  it(
    'before or after any of its commits goes on in another process: each message is sent once, or known as unknown',
    async () => {
      expect(await run(await freshFolder())).toEqual({ result: names });
      let killed = 0;
      for (const when of ['before', 'after']) {
        for (let nth = 1 + inject('sampleSeed') % step;; nth += step) {
          const where = `killed ${when} commit ${nth}`;
          const folder = await freshFolder();
          const whole = await run(folder, { PROGRAM_DEATH: `${when} ${nth}` });
          if (whole) {
            expect(whole, where).toEqual({ result: names }); // it makes fewer commits
            break;
          }
          killed++;
          const { result, state } = await run(folder) ?? {};
          const sent = await sentIn(folder);
          expect(new Set(sent).size, `${where}: ${sent.join()}`).toBe(sent.length);
          if (state === 'completed') { // it was killed behind the end of its run
            expect(sent.toSorted(), where).toEqual(names);
            continue;
          }
          expect(result, where).toHaveLength(names.length);
          for (const [i, outcome] of (result ?? []).entries()) {
            expect([names[i], 'outcome_unknown'], where).toContain(outcome);
            if (outcome === names[i]) expect(sent, where).toContain(outcome);
          }
        }
      }
      expect(killed).toBeGreaterThan(8 / step);
    },
    240_000,
  );
});
