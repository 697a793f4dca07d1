/** The programs of a run. Their code is loaded with the first program: most runs have none. */

import { loadOnce } from '../base/load-once.ts';
import { programHostKey } from '../tools/run-scope.ts';
import type { CallForApproval } from './decided-calls.ts';
import { programsIn } from './message-parts.ts';
import type { RunOptions } from './run-options.ts';
import type { ProgramTargets } from './program-calls.ts';
import type { RunPrograms } from './programs.ts';

const load = /* @__PURE__ */ loadOnce(() => import('./programs.ts'));

/** The programs of a run. */
interface ProgramsOnUse {
  /** Returns the calls of `code_run` that go on with the programs of the chat's last message, and of a run that was lost. */
  resumed(): Promise<readonly CallForApproval[]>;
}

const none: ProgramsOnUse = { resumed: () => Promise.resolve([]) };

/** Creates the programs of a run, and the host that `code_run` finds in the run's scope. */
export function programsOnUse(
  options: RunOptions,
  { calls, push }: Pick<ProgramTargets, 'calls' | 'push'>,
): ProgramsOnUse {
  const { sandbox, request: { chat }, resumed, stepTools, toolSet } = options;
  if (!sandbox || !('open' in sandbox)) return none;
  let host: RunPrograms | undefined;
  const run = { options, stepTools, toolSet, sandbox, calls, push };
  const open = async (): Promise<RunPrograms> => {
    const { createProgramHost } = await load();
    return host ??= createProgramHost(run);
  };
  calls.scope.keep(programHostKey, () => ({
    run: async (code: string, context: Parameters<RunPrograms['run']>[1]) => await (await open()).run(code, context),
    close: () => Promise.resolve(),
  }));
  return {
    async resumed() {
      if (!resumed?.programs.length && !programsIn(chat.messages.at(-1)).isWaiting) return [];
      const { resumePrograms } = await load();
      return await resumePrograms(options, { host: await open(), timeZone: sandbox.timeZone });
    },
  };
}
