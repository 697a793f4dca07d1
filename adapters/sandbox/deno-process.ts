/** Processes of Deno that have no permission. */

import { PinnaceError } from '../../src/base/errors.ts';

/** No prompt, no configuration of the host, no modules, no code from strings, and no permissions. */
const walls = [
  'run',
  '--quiet',
  '--no-prompt',
  '--no-config',
  '--no-lock',
  '--no-npm',
  '--no-remote',
  '--no-code-cache',
];

/** Starts a process that has nothing but its module. @throws PinnaceError `unavailable` without permission to run Deno. */
export function startProcess(module: string, maxMemoryMb: number): Deno.ChildProcess {
  const engine = `--v8-flags=--disallow-code-generation-from-strings,--max-old-space-size=${maxMemoryMb}`;
  try {
    const args = [...walls, engine, module];
    const env = { NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1', TZ: 'UTC' };
    const io = { stdin: 'piped', stdout: 'piped', stderr: 'null' } as const; // its output could disclose code and input
    return new Deno.Command(Deno.execPath(), { args, env, clearEnv: true, ...io }).spawn();
  } catch (cause) {
    throw new PinnaceError(
      'unavailable',
      'Cannot run the code: this process may not run Deno; allow it with --allow-run',
      {
        cause,
        retryable: false,
        details: { reason: 'not_isolated' },
      },
    );
  }
}

/** Returns the URL of a module with this source. */
export function toDataUrl(source: string): string {
  return `data:text/javascript;charset=utf-8,${encodeURIComponent(source)}`;
}

/** Ends a process at once. Twice equals once. */
export function kill(process: Deno.ChildProcess): void {
  try {
    process.kill('SIGKILL');
  } catch {
    // it ended by itself
  }
  process.status.catch(() => {});
}

/** The memory of an idle process in MB, with a margin. */
const baseMb = 96;

/** What to watch. */
interface Watch {
  readonly maxMb: number;
  readonly onExceeded: () => void;
}

/** Reads the memory of a process on Linux, if permitted. Elsewhere only the time is limited. */
export function watchMemory(pid: number, { maxMb, onExceeded }: Watch): () => void {
  const timer = setInterval(() => {
    const takenMb = residentMb(pid);
    if (takenMb > maxMb + baseMb) onExceeded();
  }, 20);
  return () => clearInterval(timer);
}

function residentMb(pid: number): number {
  try {
    const [, pages] = Deno.readTextFileSync(`/proc/${pid}/statm`).split(' ');
    return (Number(pages) * 4096) / 1_000_000;
  } catch {
    return 0;
  }
}

/** The error of code that took too much memory. */
export function outOfMemory({ maxMemoryMb }: { readonly maxMemoryMb: number }): PinnaceError {
  return new PinnaceError('budget_exceeded', `The code took more than ${maxMemoryMb} MB of memory`, {
    details: { reason: 'out_of_memory' },
  });
}
