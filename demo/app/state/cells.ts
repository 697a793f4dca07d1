/** Starts the cells of a shared worker's code tools in this page. */

import { PinnaceError, toData } from '../../../src/base/errors.ts';
import type { Cell } from '../../../adapters/sandbox/sandbox.ts';
import { findRealm, findSpawn, startModule } from '../../../adapters/sandbox/worker-cells.ts';
import type { CellNews } from '../worker/page-programs.ts';
import type { PageCells } from '../worker/page-cells.ts';

const spawn = findSpawn();
const cells = new Map<string, Cell>();

/** As `PageCells.start`. */
export async function startCell(
  ...[id, code, settings]: Parameters<PageCells['start']>
): ReturnType<PageCells['start']> {
  try {
    if (!spawn) throw new PinnaceError('unavailable', 'Cannot run the code: this browser does not isolate it');
    const cell = await spawn(code, settings);
    cells.set(id, cell);
    return { ok: true, reply: await cell.reply };
  } catch (error) {
    return { ok: false, error: toData(error) };
  }
}

export function endCell(id: string): void {
  cells.get(id)?.end();
  cells.delete(id);
}

/** As `PageCells.open`. */
export async function openCell(code: string, port: MessagePort): Promise<void> {
  const send = (news: CellNews): void => port.postMessage(news);
  try {
    const realm = findRealm();
    if (!realm) throw new PinnaceError('unavailable', 'Cannot run the program: this browser does not isolate it');
    const { programPrelude } = await import('../../../adapters/sandbox/program-prelude.ts');
    const cell = startModule(await realm(), { prelude: programPrelude(), parameter: 'tools', code }, {
      onMessage: (said) => send({ said }),
      onFailure: (error) => send({ error: toData(error) }),
    });
    port.addEventListener(
      'message',
      ({ data }: MessageEvent<string | null>) => data === null ? cell.end() : cell.post(data),
    );
    port.start();
  } catch (error) {
    send({ error: toData(error) });
  }
}
