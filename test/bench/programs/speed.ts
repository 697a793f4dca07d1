/** The time of programs on Deno: from the start of a process to its end, and of each call inside. All variants take turns. */

import { denoSandbox } from '../../../adapters/sandbox/deno.ts';
import type { Delivery, ProgramSandbox } from '../../../src/contracts/program-sandbox.ts';
import { median, report, type Row } from '../measure.ts';
import { double } from '../../fixtures/programs.ts';
import { program, run } from './subject.ts';

const rounds = 21;
const many = 500;
const replayed = 1_000;
const sandbox = denoSandbox();
const { signal } = new AbortController();

/** Runs a program whose calls are answered at once: the bridge alone. */
async function bridge(code: string, recorded: readonly Delivery[] = []): Promise<void> {
  const cell = await (sandbox as ProgramSandbox).open(code, { seed: 1, at: 0, recorded, timeoutMs: 5_000, signal });
  try {
    for (;;) {
      const message = await cell.next();
      if (message.t === 'end') return;
      if (message.t === 'call' && message.n > recorded.length) {
        cell.deliver({ n: message.n, ok: true, output: message.n });
      }
    }
  } finally {
    cell.end();
  }
}

/** An empty process with the same flags: what no program can be faster than. */
async function emptyProcess(): Promise<void> {
  const args = ['run', '--quiet', '--no-prompt', '--no-config', '--no-lock', 'data:text/javascript,Deno.exit()'];
  await new Deno.Command(Deno.execPath(), { args, stdin: 'null', stdout: 'null', stderr: 'null' }).output();
}

const loop = (calls: number): string =>
  `let sum = 0;
  for (let x = 0; x < ${calls}; x++) sum += await tools.double({ x });
  return sum;`;
const all = (calls: number): string =>
  `return (await Promise.all(Array.from({ length: ${calls} }, (_, x) => tools.double({ x })))).length;`;
const record = Array.from({ length: replayed }, (_, i): Delivery => ({ n: i + 1, ok: true, output: 1 }));

const variants = {
  empty: emptyProcess,
  bridgeOne: () => bridge(loop(1)),
  bridgeMany: () => bridge(loop(many)),
  bridgeReplay: () => bridge(loop(replayed), record),
  one: () => run(program(loop(1)), [double]),
  sequence: () => run(program(loop(many)), [double]),
  parallel: () => run(program(all(many)), [double]),
};
type Name = keyof typeof variants;

const times = Object.fromEntries(Object.keys(variants).map((name) => [name, []])) as unknown as Record<Name, number[]>;
for (let round = -2; round < rounds; round++) {
  for (const [name, variant] of Object.entries(variants)) {
    const from = performance.now();
    await variant();
    if (round >= 0) times[name as Name].push(performance.now() - from); // the first two warm up
  }
}

/** The median of the differences, round by round, in microseconds for each call. */
function perCall(longer: Name, shorter: Name): number {
  return median(times[longer].map((ms, i) => ms - (times[shorter][i] ?? NaN))) * 1_000 / (many - 1);
}

function time(figure: string, ms: number, bar: number): Row {
  return { figure, value: `${ms.toFixed(1)} ms`, bar: `<= ${bar} ms`, met: ms <= bar };
}

function each(figure: string, us: number, bar: number): Row {
  return { figure, value: `${us.toFixed(0)} us`, bar: `<= ${bar} us`, met: us <= bar };
}

const empty = median(times.empty);
const started = median(times.bridgeOne);
report('Programs on Deno', [
  {
    ...time('A program of one call, from its start to its end', started, 30),
    peer: `an empty process: ${empty.toFixed(1)} ms`,
    ratio: median(times.bridgeOne.map((ms, i) => ms / (times.empty[i] ?? NaN))).toFixed(2),
  },
  time('A run with a program of one call', median(times.one), 50),
  each('Each further call, the bridge alone', perCall('bridgeMany', 'bridgeOne'), 60),
  each('Each further call of a run, one after the other', perCall('sequence', 'one'), 100),
  each('Each further call of a run, all at once', perCall('parallel', 'one'), 100),
  time(
    `A replay of ${replayed.toLocaleString('en')} calls, after the start`,
    median(times.bridgeReplay) - started,
    100,
  ),
]);
