/** Programs on Deno: a process without permissions, whose input and output carry lines of JSON. */

import { PinnaceError } from '../../src/base/errors.ts';
import type { ProgramCell, ProgramOptions } from '../../src/contracts/sandbox.ts';
import { abused, maxMessageLength, openProgram, type ProgramPlatform, type Wire, type WireListener } from './bridge.ts';
import { kill, outOfMemory, startProcess, toDataUrl, watchMemory } from './deno-process.ts';
import { programPrelude } from './program-prelude.ts';

let url: string | undefined;

/** Starts a program in a process of its own. */
export function openDenoProgram(
  code: string,
  { maxMemoryMb, ...options }: ProgramOptions & { readonly maxMemoryMb: number },
): Promise<ProgramCell> {
  const platform: ProgramPlatform = {
    sendsCode: true,
    linesBefore: 1,
    start: (_, listener) => Promise.resolve(connect(listener, maxMemoryMb)),
  };
  return openProgram(platform, code, options);
}

function connect(listener: WireListener, maxMemoryMb: number): Wire {
  const process = startProcess(url ??= toDataUrl(programPrelude()), maxMemoryMb);
  const writer = process.stdin.getWriter();
  const encoder = new TextEncoder();
  const unwatch = watchMemory(process.pid, {
    maxMb: 2 * maxMemoryMb,
    onExceeded: () => listener.onFailure(outOfMemory({ maxMemoryMb })),
  });
  const read = async (): Promise<void> => {
    await readLines(process.stdout, listener);
    const { signal } = await process.status;
    listener.onFailure(signal === null ? endedEarly() : outOfMemory({ maxMemoryMb }));
  };
  read().catch(() => listener.onFailure(endedEarly()));
  return {
    // A process that has ended reads nothing: `read` reports the reason.
    post: (text) => void writer.write(encoder.encode(`${text}\n`)).catch(() => undefined),
    end() {
      unwatch();
      kill(process);
    },
  };
}

/** Passes each line on. A line that is too long ends the cell before it takes more memory. */
async function readLines(stdout: ReadableStream<Uint8Array<ArrayBuffer>>, listener: WireListener): Promise<void> {
  const decoder = new TextDecoder();
  let parts: string[] = []; // joined once: a search through a growing text would take the square of its length
  let length = 0;
  const reader = stdout.getReader({ mode: 'byob' }); // else each read allocates another 64 KiB
  let bytes = new Uint8Array(65_536);
  for (;;) {
    const { value } = await reader.read(bytes);
    if (!value || value.length === 0) return;
    const [first = '', ...rest] = decoder.decode(value, { stream: true }).split('\n');
    bytes = new Uint8Array(value.buffer);
    parts.push(first);
    length += first.length;
    for (const part of rest) {
      listener.onMessage(parts.join(''));
      [parts, length] = [[part], part.length];
    }
    if (length > 64 * maxMessageLength) return listener.onFailure(abused('a message is too long'));
  }
}

function endedEarly(): PinnaceError {
  return new PinnaceError('internal', 'Cannot use the code: it ended without a result', {
    details: { reason: 'code_failed' },
  });
}
