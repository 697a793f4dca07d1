import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Authorization } from '../../../src/contracts/index.ts';
import { type Authorize, localPrincipal, type PinnaceError } from '../../../src/index.ts';
import { requestPermission, requirePermission } from '../../../src/permission/authorize.ts';

const wish = { action: 'tool.call', principal: localPrincipal(), resource: { type: 'tool', id: 'add' } };
const answering = (answer: unknown): Authorize => () => answer as Authorization; // a hook in JavaScript may answer anything

describe('requestPermission', () => {
  it('passes on what the hook says, at once or later', async () => {
    expect(await requestPermission(answering({ decision: 'allow' }), wish)).toEqual({ decision: 'allow' });
    const denied = { decision: 'deny', reason: 'Not today' };
    expect(await requestPermission(answering(denied), wish)).toEqual({ ...denied, code: 'not_authorized' });
    const asks = { decision: 'ask', reason: 'Ask first' };
    expect(await requestPermission(() => Promise.resolve(asks as Authorization), wish)).toMatchObject(asks);
  });

  it.each([undefined, null, true, 'allow', {}, { decision: 'ALLOW' }])('takes %j for a denial', async (answer) => {
    const denied = { decision: 'deny', code: 'permission_check_failed' };
    expect(await requestPermission(answering(answer), wish)).toMatchObject(denied);
    expect(await requestPermission(answering(Promise.resolve(answer)), wish)).toMatchObject(denied);
  });

  it.each<[string, unknown]>([
    ['ask', ['role:a']],
    ['ask', Array.from({ length: 5 }, () => 'role:a')],
    ['deny', Array.from({ length: 6 }, () => 'role:a')],
    ['deny', ['role:a', 'a']],
    ['deny', [1]],
    ['deny', { length: 1, every: () => true }],
  ])('rules "%s" where only %j may decide', async (decision, approvers) => {
    const ruling = await requestPermission(answering({ decision: 'ask', reason: 'Ask', approvers }), wish);
    expect(ruling.decision).toBe(decision);
  });

  it.each<[string, object]>([
    ['ask', { withinMs: 1 }],
    ['deny', { withinMs: 0 }],
    ['deny', { withinMs: 1.5 }],
    ['deny', { withinMs: '1000' }],
  ])('rules "%s" on a question with %j', async (decision, terms) => {
    expect((await requestPermission(answering({ decision: 'ask', reason: 'Ask', ...terms }), wish)).decision)
      .toBe(decision);
  });

  it('keeps the terms of a question, and adds none', async () => {
    const asks = { decision: 'ask', reason: 'Ask' };
    const code = 'not_authorized';
    const terms = { approvers: ['role:a'], fourEyes: true, withinMs: 1000, edit: false };
    expect(await requestPermission(answering({ ...asks, ...terms }), wish)).toEqual({ ...asks, ...terms, code });
    expect(await requestPermission(answering({ ...asks, fourEyes: false, edit: true }), wish)).toEqual({
      ...asks,
      code,
    });
  });

  it('takes an error for a denial, and says nothing of it', async () => {
    const thrown = await requestPermission(() => {
      throw new Error('hunter2');
    }, wish);
    const rejected = await requestPermission(() => Promise.reject(new Error('hunter2')), wish);
    expect([thrown, rejected]).toMatchObject([{ decision: 'deny' }, { decision: 'deny' }]);
    expect(JSON.stringify([thrown, rejected])).not.toContain('hunter2');
  });

  describe('on a hook that does not answer', () => {
    beforeEach(() => void vi.useFakeTimers());
    afterEach(() => void vi.useRealTimers());

    it('denies after five seconds', async () => {
      const ruling = requestPermission(() => new Promise(() => undefined), wish);
      await vi.advanceTimersByTimeAsync(5000);
      expect(await ruling).toMatchObject({ decision: 'deny', code: 'permission_check_timeout' });
    });
  });
});

describe('requirePermission', () => {
  it('rejects with what could not be done, and why', async () => {
    await expect(
      requirePermission(answering({ decision: 'deny', reason: 'not today' }), wish, { attempt: 'Cannot add' }),
    ).rejects
      .toMatchObject({ code: 'forbidden', message: 'Cannot add: not today', details: { reason: 'not_authorized' } });
    await expect(
      requirePermission(answering({ decision: 'ask', reason: 'ask first' }), wish, { attempt: 'Cannot add' }),
    ).rejects
      .toMatchObject({ code: 'approval_required' });
    await requirePermission(answering({ decision: 'allow' }), wish, { attempt: 'Cannot add' });
  });

  it('says who decides, and until when, where a person must', async () => {
    const terms = { approvers: ['role:a'], fourEyes: true, withinMs: 1000 };
    const asking = answering({ decision: 'ask', reason: 'ask first', ...terms });
    await expect(requirePermission(asking, wish, { attempt: 'Cannot add' })).rejects.toMatchObject({ details: terms });
    const denying = answering({ decision: 'deny', reason: 'no', ...terms });
    await expect(requirePermission(denying, wish, { attempt: 'Cannot add' })).rejects.toSatisfy(
      ({ details }: PinnaceError) => Object.keys(details ?? {}).join() === 'reason',
    );
  });

  it('takes what was approved for a question to the same persons alone', async () => {
    const attempt = 'Cannot add';
    const approved = { approvers: ['role:b', 'role:a'], fourEyes: true as const };
    const asks = (terms: object) => answering({ decision: 'ask', reason: 'ask first', ...terms });
    await requirePermission(asks({ approvers: ['role:a', 'role:b'], fourEyes: true }), wish, { attempt, approved });
    for (
      const other of [{ fourEyes: true }, { approvers: ['role:a', 'role:b'] }, {
        approvers: ['role:a'],
        fourEyes: true,
      }]
    ) {
      await expect(requirePermission(asks(other), wish, { attempt, approved })).rejects
        .toMatchObject({ code: 'approval_required' });
    }
    const denies = answering({ decision: 'deny', reason: 'no' });
    await expect(requirePermission(denies, wish, { attempt, approved: {} })).rejects.toMatchObject({
      code: 'forbidden',
    });
  });
});
