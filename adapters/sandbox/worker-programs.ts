/** Programs in a browser: a worker that has only the language, and posts messages. */

import type { ProgramCell, ProgramOptions } from '../../src/contracts/sandbox.ts';
import { openProgram, type ProgramPlatform } from './bridge.ts';
import { programPrelude } from './program-prelude.ts';
import { linesBefore, type Realm, startModule } from './worker-cells.ts';

/** What the sandbox of a page starts programs with. */
interface WorkerProgram {
  readonly options: ProgramOptions;
  readonly realm: Realm;
}

/** Starts a program in a worker of its own. */
export function openWorkerProgram(
  program: string,
  { options, realm }: WorkerProgram,
): Promise<ProgramCell> {
  const platform: ProgramPlatform = {
    sendsCode: false,
    linesBefore,
    async start(code, listener) {
      const source = { prelude: programPrelude(options), parameter: 'tools', code };
      return startModule(await realm(), source, listener);
    },
  };
  return openProgram(platform, program, options);
}
