/** The programs of a run. Their code is loaded with the first program: most runs have none. */

import { loadOnce } from '../base/load-once.ts';
import { programHostKey } from '../tools/run-scope.ts';
import type { CallForApproval } from './decided-calls.ts';
import { programsIn } from './message-parts.ts';
import type { RunContext } from './run-context.ts';
import type { RunPrograms } from './program-record.ts';

const load = /* @__PURE__ */ loadOnce(() => import('./programs.ts'));

/** The programs of a run. */
interface ProgramsOnUse {
  /** Returns the calls of `code_run` that go on with the programs of the chat's last message, and of a run that was lost. */
  resumed(): Promise<readonly CallForApproval[]>;
}

const none: ProgramsOnUse = { resumed: () => Promise.resolve([]) };

/** Creates the programs of a run, and the host that `code_run` finds in the run's scope. */
export function programsOnUse(run: RunContext): ProgramsOnUse {
  const { runtime: { sandbox }, request: { chat }, resolution: { resumed }, calls } = run;
  if (!sandbox || !('open' in sandbox)) return none;
  let host: RunPrograms | undefined;
  const open = async (): Promise<RunPrograms> => {
    const { createProgramHost } = await load();
    return host ??= createProgramHost({ run, sandbox });
  };
  calls.scope.keep(programHostKey, () => ({
    run: async (code: string, context: Parameters<RunPrograms['run']>[1]) => await (await open()).run(code, context),
    close: () => Promise.resolve(),
  }));
  return {
    async resumed() {
      if (!resumed?.programs.length && !programsIn(chat.messages.at(-1)).isWaiting) return [];
      const { resumePrograms } = await load();
      return await resumePrograms(run, { host: await open(), timeZone: sandbox.timeZone });
    },
  };
}
