import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createTree, openTree, treeTools } from '../../../src/index.ts';
import { payloadTypes, wide } from './fixtures.ts';
import { fails, idsOf, ok } from './tool-fixtures.ts';

const reader = (tree: Parameters<typeof treeTools>[0]) => treeTools(tree, { agentId: 'r', role: 'reader' });
const asked = { nodeId: 'n0', limit: 4 };

describe('page tokens', () => {
  it('refuses a page token from before a restart as snapshot_gone and skips no node', async () => {
    const options = { storage: memoryStorage(), treeId: 't', payloadTypes };
    const before = await openTree({ ...options, rows: wide(20) });
    const first = await ok(reader(before), 'list_children', asked);
    expect(idsOf(first)).toEqual(['n1', 'n2', 'n3', 'n4']);
    await before.write([{ kind: 'remove', nodeId: 'n1' }, { kind: 'remove', nodeId: 'n2' }]);

    const after = reader(await openTree(options));
    await ok(after, 'list_children', asked); // pins a snapshot of the same number
    const error = await fails(after, 'list_children', { ...asked, pageToken: first.pageToken });
    expect(error).toMatchObject({ code: 'conflict', details: { reason: 'snapshot_gone', hint: 'restart' } });
  });

  it('refuses a page token of another tree, another tool and another query', async () => {
    const tools = reader(createTree({ payloadTypes, rows: wide(20) }));
    const other = reader(createTree({ payloadTypes, rows: wide(20) }));
    const { pageToken } = await ok(tools, 'list_children', asked);
    await ok(other, 'list_children', asked);
    const calls = [
      [other, 'list_children', asked, 'snapshot_gone'],
      [tools, 'get_view', { rootNodeId: 'n0' }, 'invalid_page_token'],
      [tools, 'list_children', { ...asked, nodeId: 'n1' }, 'invalid_page_token'],
    ] as const;
    for (const [where, name, input, reason] of calls) {
      expect(await fails(where, name, { ...input, pageToken })).toMatchObject({ details: { reason } });
    }
  });

  it('refuses a page token of an older release, which names no epoch', async () => {
    const tools = reader(createTree({ payloadTypes, rows: wide(20) }));
    const { pageToken } = await ok(tools, 'list_children', asked);
    const { e: _, ...old } = JSON.parse(atob(pageToken));
    expect(await fails(tools, 'list_children', { ...asked, pageToken: btoa(JSON.stringify(old)) })).toMatchObject({
      details: { reason: 'snapshot_gone' },
    });
  });
});
