import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { denoSandbox } from '../../adapters/sandbox/deno.ts';
import { workerSandbox } from '../../adapters/sandbox/worker.ts';
import { describeProgramSandbox, programTerms, runProgram } from '../fixtures/sandbox/program-sandbox.ts';
import { describeSandbox, outcomeOf, terms } from '../fixtures/sandbox/sandbox.ts';

let sockets = 0;
const server = createServer().on('connection', () => sockets++);
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

afterAll(() => {
  server.close();
});

/** The child processes that the system still lists, including ended ones that were not waited for. */
function children(): string[] {
  const numbers = [...Deno.readDirSync('/proc')].map(({ name }) => name).filter((name) => /^\d+$/.test(name));
  return numbers.filter((number) => parentOf(number) === String(Deno.pid));
}

function parentOf(number: string): string | undefined {
  try {
    const stat = Deno.readTextFileSync(`/proc/${number}/stat`);
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
  } catch {
    return undefined; // it ended since it was listed
  }
}

describe('denoSandbox', () => {
  describeSandbox(denoSandbox(), url);

  it.each([
    ['objects', 'const a = []; while (true) a.push(new Array(1000).fill({}));'],
    ['bytes', 'const a = []; while (true) a.push(new Uint8Array(10_000_000).fill(1));'],
    ['text', "let s = 'x'; const a = []; while (true) { a.push([...(s += s.slice(0, 100_000) + a.length)]); }"],
  ])('ends code that takes too much memory for %s, and goes on', async (_, code) => {
    const sandbox = denoSandbox({ maxMemoryMb: 64 });
    expect(await outcomeOf(sandbox.run(code, terms()))).toBe('budget_exceeded: out_of_memory');
    expect(await sandbox.run('return 1', terms())).toBe(1);
  });

  describe('with programs', () => {
    describeProgramSandbox(denoSandbox(), url);
  });

  it('ends a program that takes too much memory', async () => {
    const run = runProgram(
      denoSandbox({ maxMemoryMb: 64 }),
      'const a = []; while (true) a.push(new Array(1000).fill({}));',
    );
    expect(await outcomeOf(run)).toBe('budget_exceeded: out_of_memory');
  });

  it('leaves no process and has opened no socket', async () => {
    expect(await outcomeOf(denoSandbox().run('while (true);', terms({ timeoutMs: 100 })))).toBe('deadline_exceeded');
    // A killed process may still be listed for a while; no answer waits for that.
    await vi.waitFor(() => expect(children()).toEqual([]));
    expect(sockets).toBe(0);
  });
});

describe('workerSandbox', () => {
  it('runs nothing on Deno', async () => {
    expect(await outcomeOf(workerSandbox().run('return 1', terms()))).toBe('unavailable: not_isolated');
    expect(await workerSandbox().isReady()).toBe(false);
    expect(await outcomeOf(workerSandbox().open('return 1', programTerms()))).toBe('unavailable: not_isolated');
  });
});
