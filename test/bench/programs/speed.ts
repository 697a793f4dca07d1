/** The time of programs on Deno: from the start of a process to its end, and of each call inside. All variants take turns. */

import { denoSandbox } from '../../../adapters/sandbox/deno.ts';
import type { Delivery, ProgramSandbox } from '../../../src/contracts/sandbox.ts';
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

/** Sends a call and reads its outcome: no walls, no checks. */
const exchange = `const { stdin, stdout, exit } = Deno;
  const [encoder, decoder, bytes] = [new TextEncoder(), new TextDecoder(), new Uint8Array(65_536)];
  const post = (list) => stdout.writeSync(encoder.encode(JSON.stringify(list) + '\\n'));
  const exchange = (n) => {
    post([{ t: 'call', n, tool: 'double', input: '{"x":1}' }, { t: 'idle', open: 1 }]);
    JSON.parse(decoder.decode(bytes.subarray(0, stdin.readSync(bytes))));
  };
  const end = () => { post([{ t: 'end' }]); exit(); };`;
const echo = (calls: number): string => `${exchange} for (let n = 1; n <= ${calls}; n++) exchange(n); end();`;
/** As a program does, whose promises settle between two messages. */
const echoInTurns = (calls: number): string =>
  `${exchange} let n = 0; const turn = () => { if (++n > ${calls}) end(); exchange(n); setImmediate(turn); }; turn();`;

/** The same messages over the same pipes, to a process that only repeats them: what no bridge can be faster than. */
async function bareEcho(code: string): Promise<void> {
  const module = `data:text/javascript,${encodeURIComponent(code)}`;
  const args = ['run', '--quiet', '--no-prompt', '--no-config', '--no-lock', module];
  const child = new Deno.Command(Deno.execPath(), { args, stdin: 'piped', stdout: 'piped', stderr: 'null' }).spawn();
  const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];
  const writer = child.stdin.getWriter();
  for await (const chunk of child.stdout) {
    const [{ t, n }] = JSON.parse(decoder.decode(chunk)) as [{ t: string; n: number }]; // the program above wrote it
    if (t === 'end') break;
    await writer.write(encoder.encode(`${JSON.stringify([{ n, ok: true, output: n }])}\n`));
  }
  await child.status;
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
  echoOne: () => bareEcho(echo(1)),
  echoMany: () => bareEcho(echo(many)),
  turnsOne: () => bareEcho(echoInTurns(1)),
  turnsMany: () => bareEcho(echoInTurns(many)),
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
const [echoed, inTurns] = [perCall('echoMany', 'echoOne'), perCall('turnsMany', 'turnsOne')];
const beside = { peer: `a bare echo: ${echoed.toFixed(0)} us, in turns: ${inTurns.toFixed(0)} us` };
report('Programs on Deno', [
  {
    ...time('A program of one call, from its start to its end', started, 30),
    peer: `an empty process: ${empty.toFixed(1)} ms`,
    ratio: median(times.bridgeOne.map((ms, i) => ms / (times.empty[i] ?? NaN))).toFixed(2),
  },
  time('A run with a program of one call', median(times.one), 50),
  { ...each('Each further call, the bridge alone', perCall('bridgeMany', 'bridgeOne'), 60), ...beside },
  { ...each('Each further call of a run, one after the other', perCall('sequence', 'one'), 100), ...beside },
  each('Each further call of a run, all at once', perCall('parallel', 'one'), 100),
  time(
    `A replay of ${replayed.toLocaleString('en')} calls, after the start`,
    median(times.bridgeReplay) - started,
    100,
  ),
]);
