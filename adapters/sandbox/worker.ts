/**
 * Runs code in a worker that has only the language, for browsers: there `terminate` ends every worker.
 *
 * There are two defenses. First, the prelude removes all access to the outside, in a realm with an opaque origin, which has no
 * storage, cache or lock of the page. Second, a Content-Security-Policy: a worker created from data inherits that of its creator.
 * In a page, a hidden frame creates the worker, and the frame's policy forbids connections. In a worker there is no frame: the code
 * runs under the policy of that worker's script (a page's `<meta>` does not apply to it), which must allow the model endpoints.
 * There the first defense is the only one, unless the policy of the script forbids connections to all other hosts.
 *
 * Memory has no limit here: a worker shares the memory of the page's process, and the web has no interface to limit it. The
 * prelude does not cap single allocations, because objects and texts in a loop take as much.
 */

import { loadOnce } from '../../src/base/load-once.ts';
import type { ProgramSandbox } from '../../src/contracts/sandbox.ts';
import { cannotIsolate, createSandbox, type ProbedSandbox } from './sandbox.ts';
import { findRealm, findSpawn } from './worker-cells.ts';

export type { ProbedSandbox } from './sandbox.ts';
export type { ProgramSandbox } from '../../src/contracts/sandbox.ts';

const loadPrograms = /* @__PURE__ */ loadOnce(() => import('./worker-programs.ts'));

/** Creates the sandbox for a page or a worker. It is unavailable in Deno, where `terminate` does not end an endless loop. */
export function workerSandbox(): ProbedSandbox & ProgramSandbox {
  const realm = findRealm();
  return {
    ...createSandbox(findSpawn()),
    timeZone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
    async open(code, options) {
      if (!realm) throw cannotIsolate();
      const { openWorkerProgram } = await loadPrograms();
      return await openWorkerProgram(code, { options, realm });
    },
  };
}
