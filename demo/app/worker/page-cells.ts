/** Code tools of a shared worker, which cannot start workers: its page starts them. */

import { type Remote, wrap } from 'comlink';
import { type ErrorData, fromData, PinnaceError } from '../../../src/base/errors.ts';
import { createSandbox, type ProbedSandbox } from '../../../adapters/sandbox/sandbox.ts';
import { workerSandbox } from '../../../adapters/sandbox/worker.ts';
import type { ProgramSandbox } from '../../../src/contracts/sandbox.ts';
import { loadOnce } from '../../../src/base/load-once.ts';
import { linesBefore } from '../../../adapters/sandbox/worker-cells.ts';
import type { PreludeSettings } from '../../../adapters/sandbox/prelude.ts';

/** What the code's worker sent, or why it sent nothing. */
export type CellReply = { readonly ok: true; readonly reply: unknown } | {
  readonly ok: false;
  readonly error: ErrorData;
};

/** The page's interface for cells, called over comlink. */
export interface PageCells {
  /** Starts a cell. Resolves with its first message. */
  start(id: string, code: string, settings: PreludeSettings): Promise<CellReply>;
  end(id: string): void;
  /** Starts the cell of a program, whose messages go over the port; `null` ends it. Rejects nothing: a failure is a message. */
  open(code: string, port: MessagePort): void;
}

const loadPrograms = loadOnce(() => import('./page-programs.ts'));

interface PageSandbox {
  readonly sandbox: ProbedSandbox & ProgramSandbox;
  /** The latest page starts the cells. */
  readonly connect: (port: MessagePort) => void;
}

/** Creates the sandbox; a dedicated worker starts its cells itself. */
export function createPageSandbox(): PageSandbox {
  if (typeof Worker !== 'undefined') return { sandbox: workerSandbox(), connect: (port) => port.close() };
  let page: Remote<PageCells> | undefined;
  return {
    connect: (port) => void (page = wrap<PageCells>(port)),
    sandbox: {
      timeZone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
      async open(code, options) {
        if (!page) throw noPage();
        return await (await loadPrograms()).openPageProgram(page, code, options);
      },
      ...createSandbox((code, settings) => {
        const id = crypto.randomUUID();
        const started = page?.start(id, code, settings) ?? Promise.reject(noPage());
        const reply = started.then((answer) => {
          if (answer.ok) return answer.reply;
          throw fromData(answer.error);
        });
        return Promise.resolve({ reply, linesBefore, end: () => void page?.end(id) });
      }),
    },
  };
}

function noPage(): PinnaceError {
  return new PinnaceError('unavailable', 'Cannot run the code: the page is closed', { retryable: true });
}
