/** Programs in a process without permissions, whose input and output carry lines of JSON. */

import { PinnaceError } from '../../src/base/errors.ts';
import type { ProgramCell, ProgramOptions } from '../../src/contracts/sandbox.ts';
import { abused, maxMessageLength, openProgram, type Wire, type WireListener } from './bridge.ts';
import { outOfMemory, type ProcessPlatform, watchMemory } from './processes.ts';
import { programPrelude } from './program-prelude.ts';

let module: string | undefined;

/** Starts a program in a process of its own. */
export function openProcessProgram(
  platform: ProcessPlatform,
  code: string,
  { maxMemoryMb, ...options }: ProgramOptions & { readonly maxMemoryMb: number },
): Promise<ProgramCell> {
  return openProgram(
    {
      sendsCode: true,
      linesBefore: 1,
      start: (_, listener) => Promise.resolve(connect(platform, { listener, maxMemoryMb })),
    },
    code,
    options,
  );
}

function connect(
  platform: ProcessPlatform,
  { listener, maxMemoryMb }: { readonly listener: WireListener; readonly maxMemoryMb: number },
): Wire {
  const process = platform.start(module ??= programPrelude(), maxMemoryMb);
  const unwatch = watchMemory(platform, process.pid, {
    maxMemoryMb,
    onExceeded: () => listener.onFailure(outOfMemory(maxMemoryMb)),
  });
  const read = async (): Promise<void> => {
    await readLines(process.output, listener);
    const { signal } = await process.ended;
    listener.onFailure(signal === null ? endedEarly() : outOfMemory(maxMemoryMb));
  };
  read().catch(() => listener.onFailure(endedEarly()));
  return {
    post: (text) => process.write(`${text}\n`),
    end() {
      unwatch();
      process.kill();
    },
  };
}

/** Passes each line on. A line that is too long ends the cell before it takes more memory. */
async function readLines(output: AsyncIterable<Uint8Array>, listener: WireListener): Promise<void> {
  const decoder = new TextDecoder();
  let parts: string[] = []; // joined once: a search through a growing text would take the square of its length
  let length = 0;
  for await (const chunk of output) {
    const [first = '', ...rest] = decoder.decode(chunk, { stream: true }).split('\n');
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
