/** Programs of a shared worker, which cannot start workers: their cells run in its page. */

import { type Remote, transfer } from 'comlink';
import { openProgram } from '../../../adapters/sandbox/bridge.ts';
import { linesBefore } from '../../../adapters/sandbox/worker-cells.ts';
import { type ErrorData, fromData } from '../../../src/base/errors.ts';
import type { ProgramCell, ProgramOptions } from '../../../src/contracts/sandbox.ts';
import type { PageCells } from './page-cells.ts';

/** What the page sends: a message of the cell, or why it failed. */
export type CellNews = { readonly said: unknown } | { readonly error: ErrorData };

export function openPageProgram(
  page: Remote<PageCells>,
  program: string,
  options: ProgramOptions,
): Promise<ProgramCell> {
  return openProgram(
    {
      sendsCode: false,
      linesBefore,
      async start(code, listener) {
        const { port1, port2 } = new MessageChannel();
        port1.addEventListener('message', ({ data }: MessageEvent<CellNews>) => {
          if ('error' in data) listener.onFailure(fromData(data.error));
          else listener.onMessage(data.said);
        });
        port1.start();
        await page.open(code, transfer(port2, [port2]));
        return {
          post: (text) => port1.postMessage(text),
          end() {
            port1.postMessage(null);
            port1.close();
          },
        };
      },
    },
    program,
    options,
  );
}
