import { describe, expect, it } from 'vitest';
import { RateLimiter } from '../../../../../src/tree/desk.ts';
import { company, editor, fails, ok, version } from '../../tool-fixtures.ts';

const limits = { reads: { perSecond: 1, burst: 3 }, writes: { perSecond: 1, burst: 3 } };

describe('rate limits', () => {
  it('counts calls with invalid arguments, refused calls and unknown tools', async () => {
    const calls = [
      ['get_node', { nodeId: 7 }],
      ['get_node', 'no object'],
      ['no_such_tool', {}],
      ['remove_node', { nodeId: 7 }],
      ['undo', null],
    ] as const;
    for (const [name, input] of calls) {
      const tools = editor(company(), { limits, now: () => 0 });
      for (let i = 0; i < 3; i++) {
        expect((await fails(tools, name, input)).code).not.toBe('rate_limited');
      }
      expect(await fails(tools, name, input)).toMatchObject({ code: 'rate_limited', retryAfterMs: 1000 });
    }
    const readOnly = editor(company(), { limits, readOnly: true, now: () => 0 });
    for (let i = 0; i < 3; i++) expect(await fails(readOnly, 'undo', {})).toMatchObject({ code: 'forbidden' });
    expect(await fails(readOnly, 'undo', {})).toMatchObject({ code: 'rate_limited' });
  });

  it('still limits an agent after more agents have called than the tree stores views', async () => {
    const tree = company();
    const spent = editor(tree, { agentId: 'spent', limits, now: () => 0 });
    for (let i = 0; i < 3; i++) await ok(spent, 'get_node', { nodeId: 'root' });
    for (let i = 0; i < 200; i++) {
      await ok(editor(tree, { agentId: `agent ${i}`, limits, now: () => 0 }), 'get_node', { nodeId: 'root' });
    }
    expect(await fails(spent, 'get_node', { nodeId: 'root' })).toMatchObject({ code: 'rate_limited' });
  });

  it('lets agents beyond its room share one bucket, and makes room when others are full again', () => {
    const limiter = new RateLimiter({ limit: 2 });
    const rate = { perSecond: 1, burst: 1 };
    const take = (agentId: string, now: number) => limiter.take({ agentId, kind: 'reads', rate, now });
    expect([take('a', 0), take('b', 0), take('c', 0)]).toEqual([0, 0, 0]);
    expect([take('d', 0), take('e', 0), take('c', 0), take('a', 0)]).toEqual([1000, 1000, 1000, 1000]);
    expect([take('d', 1000), take('e', 1000), take('d', 1000)]).toEqual([0, 0, 1000]);
  });

  it('answers the repeat of a write whose bucket is spent, and limits repeats as well', async () => {
    const tools = editor(company(), { limits, now: () => 0 });
    const input = { nodeId: 'it', idempotencyKey: 'k', versionToken: await version(tools) };
    await ok(tools, 'expand_node', input);
    for (let i = 0; i < 2; i++) await fails(tools, 'expand_node', { nodeId: 7 });
    for (let i = 0; i < 3; i++) expect(await ok(tools, 'expand_node', input)).toMatchObject({ replayed: true });
    expect(await fails(tools, 'expand_node', input)).toMatchObject({ code: 'rate_limited' });
    expect(await fails(tools, 'expand_node', { ...input, idempotencyKey: 'new' })).toMatchObject({
      code: 'rate_limited',
    });
  });
});

describe('a read-only tree', () => {
  it('answers forbidden before invalid_argument for writes, to readers as well', async () => {
    const tree = company();
    const callers = [editor(tree, { readOnly: true }), editor(tree, { agentId: 'r', role: 'reader' })];
    const hostile = ['no object', { nodeId: 7 }, { filters: [] }, null, { viewJson: 'x'.repeat(20_000_000) }];
    for (const tools of callers) {
      const writes = tools.definitions.filter(({ annotations }) => annotations?.readOnlyHint !== true);
      expect(writes).toHaveLength(12);
      for (const { name } of writes) {
        for (const input of hostile) expect(await fails(tools, name, input)).toMatchObject({ code: 'forbidden' });
      }
      expect(await fails(tools, 'get_node', { nodeId: 7 })).toMatchObject({ code: 'invalid_argument' });
    }
  });
});
