/** Code tools of a shared worker, which cannot start workers: its page starts them. */

import { wrap } from 'comlink';
import { type ErrorData, fromData, PinnaceError } from '../../../src/base/errors.ts';
import { createSandbox, type ProbedSandbox } from '../../../adapters/sandbox/sandbox.ts';
import { workerSandbox } from '../../../adapters/sandbox/worker.ts';
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
}

/** The sandbox of this worker, and what connects it with a page. */
interface PageSandbox {
  readonly sandbox: ProbedSandbox;
  /** The latest page starts the cells. */
  readonly connect: (port: MessagePort) => void;
}

/** Creates the sandbox; a dedicated worker starts its cells itself. */
export function createPageSandbox(): PageSandbox {
  if (typeof Worker !== 'undefined') return { sandbox: workerSandbox(), connect: (port) => port.close() };
  let page: PageCells | undefined;
  return {
    connect: (port) => void (page = wrap<PageCells>(port) as unknown as PageCells), // safe: each call returns a promise
    sandbox: createSandbox((code, settings) => {
      const id = crypto.randomUUID();
      const started = page?.start(id, code, settings) ?? Promise.reject(noPage());
      const reply = started.then((answer) => {
        if (answer.ok) return answer.reply;
        throw fromData(answer.error);
      });
      return Promise.resolve({ reply, linesBefore, end: () => page?.end(id) });
    }),
  };
}

function noPage(): PinnaceError {
  return new PinnaceError('unavailable', 'Cannot run the code: the page is closed', { retryable: true });
}
