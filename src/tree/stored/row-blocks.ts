/** The rows of a tree in the blocks of its checkpoints. */

import type { Checkpoints } from '../../log/checkpoint.ts';
import type { Payload } from '../nodes/node-store.ts';
import type { TreeRow } from '../nodes/row.ts';
import { type Access, keyOf, readHead } from './stored-head.ts';

type StoredRow = readonly [nodeId: string, parentId: string | null, payloadType: string, payload: Payload];

/** A block has at most this many rows and characters. */
const maxRows = 512;
const maxBlockLength = 512 * 1024;
/** How long readers of a replaced checkpoint still find it. */
const replacedGraceMs = 60_000;

/** Where the checkpoints of a tree are. */
export function checkpointsOf(access: Access): Checkpoints {
  return {
    storage: access.storage,
    now: access.now,
    blocks: keyOf(access, 'block'),
    garbage: keyOf(access, 'garbage'),
    current: async () => (await readHead(access))?.value.base,
    replacedGraceMs,
  };
}

/** Cuts rows into blocks. */
export function* blocksOf(rows: Iterable<TreeRow>): Iterable<readonly StoredRow[]> {
  let block: StoredRow[] = [];
  let length = 0;
  for (const { nodeId, parentId, payloadType, payload } of rows) {
    const row: StoredRow = [nodeId, parentId, payloadType, payload];
    const size = JSON.stringify(row).length;
    if (block.length === maxRows || (length + size > maxBlockLength && block.length > 0)) {
      yield block;
      [block, length] = [[], 0];
    }
    block.push(row);
    length += size;
  }
  if (block.length > 0) yield block;
}

/** Reads the rows of blocks. */
export function rowsOf(blocks: readonly unknown[]): TreeRow[] {
  const rows: TreeRow[] = [];
  for (const block of blocks as readonly (readonly StoredRow[])[]) { // only `blocksOf` makes them
    for (const [nodeId, parentId, payloadType, payload] of block) rows.push({ nodeId, parentId, payloadType, payload });
  }
  return rows;
}
