/** What the peers of the tree do not have: ranks, subtrees, views, tool calls, search. Absolute figures. */

import * as v from 'valibot';
import { createTree, treeTools } from '../../../src/index.ts';
import type { TreeRow } from '../../../src/tree/index.ts';
import { median, report, type Row } from '../measure.ts';
import { timed } from './timed.ts';
import type { BenchTree } from './trees.ts';

function row(figure: string, us: number, most: number): Row {
  return { figure, value: `${us.toFixed(1)} us`, bar: `<= ${most} us`, met: us <= most };
}

export async function measureOwn({ name, rows }: BenchTree, isLarge: boolean): Promise<void> {
  const tree = createTree({ payloadTypes: { item: v.looseObject({}) }, rows, source: 'trusted' });
  const view = tree.view({ defaultExpanded: true });
  const at = (i: number): string => `n${Math.floor(rows.length * 0.9) - i}`;
  const last = rows.length - 1;
  report(`${name}: one tree`, [
    row('rank of a node', timed((i) => view.rankOf(at(i))), isLarge ? 15 : 3),
    row('size of a subtree', timed((i) => tree.sizeOf(at(i))), isLarge ? 15 : 3),
    row('is inside', timed((i) => tree.isInside(at(i), 'n1')), isLarge ? 15 : 3),
    row(
      'children at 90 %',
      timed((i) => tree.children('n0', { offset: Math.floor(last * 0.9) - i, limit: 50 })),
      isLarge ? 30 : 15,
    ),
    row('one more view', timed(() => tree.view().close(), { calls: 50 }), isLarge ? 2000 : 1000),
    ...await measureTools(tree, isLarge),
  ]);
}

async function measureTools(tree: ReturnType<typeof createTree>, isLarge: boolean): Promise<Row[]> {
  const tools = treeTools(tree, {
    agentId: 'bench',
    role: 'editor',
    limits: { searchMs: 60_000, maxPageSize: 2_000_000 },
  });
  const first = await tools.call('get_node', { nodeId: 'n1' });
  let version = first.ok ? first.output.version : '';
  const calls: number[] = [];
  for (let i = 0; i < 4000; i++) {
    const before = performance.now();
    const outcome = await tools.call(i % 2 === 0 ? 'expand_node' : 'collapse_node', {
      nodeId: 'n1',
      versionToken: version,
    });
    calls.push((performance.now() - before) * 1000);
    if (outcome.ok) version = outcome.output.version;
  }
  const overhead = median(calls.slice(2000));
  return [
    { figure: 'expand_node as a tool call', value: `${overhead.toFixed(1)} us`, bar: '<= 15 us', met: overhead <= 15 },
    await measureSearch(tools, tree, { word: 'zebra', isLarge }),
    await measureSearch(tools, tree, { word: 'no such words', isLarge }),
  ];
}

/** Words that are nowhere: one whose first letter is rare, and one whose letters are everywhere. */
async function measureSearch(
  tools: ReturnType<typeof treeTools>,
  tree: ReturnType<typeof createTree>,
  { word, isLarge }: { readonly word: string; readonly isLarge: boolean },
): Promise<Row> {
  const filters = [{ path: 'name', op: 'contains', value: word }];
  const times: number[] = [];
  for (let i = 0; i < 60; i++) {
    const before = performance.now();
    await tools.call('search', { rootNodeId: tree.rootId, filters, limit: 10 });
    times.push(performance.now() - before);
  }
  const ours = median(times.slice(20));
  const rows = [...tree.rows()];
  const theirs = timed(() => scan(rows, word), { calls: 60 }) / 1000;
  const most = (60 * tree.size) / 1e6;
  return {
    figure: `search all for "${word}" (first time ${times[0]!.toFixed(0)} ms)`,
    value: `${ours.toFixed(2)} ms`,
    peer: `all objects ${theirs.toFixed(2)} ms`,
    ratio: `${(theirs / ours).toFixed(1)}x`,
    bar: isLarge ? `<= ${most.toFixed(0)} ms` : '>= 5x',
    met: isLarge ? ours <= most : theirs / ours >= 5,
  };
}

function scan(rows: readonly TreeRow[], word: string): number {
  return rows.filter(({ payload }) => (payload.name as string).includes(word)).length; // safe: made by `payloadOf`
}
