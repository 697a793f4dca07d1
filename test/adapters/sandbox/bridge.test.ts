import { describe, expect, it } from 'vitest';
import { openProgram, type WireListener } from '../../../adapters/sandbox/bridge.ts';
import type { FromCell, ProgramCell, ProgramOptions } from '../../../src/contracts/sandbox.ts';
import { programTerms } from '../../fixtures/sandbox/program-sandbox.ts';
import { outcomeOf } from '../../fixtures/sandbox/sandbox.ts';

/** Opens a cell that a test speaks for. */
async function hostileCell(options: Partial<ProgramOptions> = {}) {
  const posted: string[] = [];
  let listener: WireListener | undefined;
  let ends = 0;
  const cell: ProgramCell = await openProgram(
    {
      sendsCode: true,
      linesBefore: 1,
      start(_, given) {
        listener = given;
        return Promise.resolve({ post: (text) => void posted.push(text), end: () => void ends++ });
      },
    },
    'return 1',
    programTerms(options),
  );
  return {
    cell,
    posted,
    say: (data: unknown) => listener?.onMessage(typeof data === 'object' ? JSON.stringify(data) : data),
    get ended() {
      return ends > 0;
    },
  };
}

const call = (n: number, more: object = {}) => ({ t: 'call', n, tool: 'a', input: '{}', ...more });

describe('openProgram', () => {
  it('reads reports, and sends the settings and the deliveries of one turn together', async () => {
    const { cell, posted, say } = await hostileCell();
    expect(JSON.parse(posted[0] ?? '')).toEqual([
      { code: 'return 1', seed: 7, at: 0, recorded: [], maxOutputLength: 65_536 },
    ]);
    say([call(1), call(2), { t: 'idle', open: 2 }]);
    const found: FromCell[] = [await cell.next(), await cell.next(), await cell.next()];
    expect(found.map(({ t }) => t)).toEqual(['call', 'call', 'idle']);
    cell.deliver({ n: 2, ok: true, output: 2 });
    cell.deliver({ n: 1, ok: true, output: 1 });
    await Promise.resolve();
    expect(JSON.parse(posted[1] ?? '')).toEqual([{ n: 2, ok: true, output: 2 }, { n: 1, ok: true, output: 1 }]);
    cell.end();
  });

  it.each([
    ['a call that skips a number', [call(2)]],
    ['a call twice', [call(1), call(1)]],
    ['a call with a number as text', [call(1, { n: '1' })]],
    ['an input that is no text', [call(1, { input: {} })]],
    ['a tool that is no text', [call(1, { tool: { toString: 1 } })]],
    ['an idle out of order', [{ t: 'idle', open: 0 }, { t: 'idle', open: 0 }]],
    ['an unknown report', [{ t: 'other', open: 0 }]],
    ['null', [null]],
    ['no list', { t: 'end' }],
    ['no text', undefined],
    ['no JSON', '[{'],
    ['65 calls without an outcome', Array.from({ length: 65 }, (_, i) => call(i + 1))],
    ['a text that is too long', [call(1, { input: 'x'.repeat(1_048_576) })]],
    ['depth', '['.repeat(100_000)],
  ])('ends a cell that sends %s', async (_, message) => {
    const hostile = await hostileCell();
    hostile.say(message);
    const rest = async (): Promise<void> => {
      for (;;) await hostile.cell.next();
    };
    expect(await outcomeOf(rest())).toBe('budget_exceeded: bridge_abused');
    expect(hostile.ended).toBe(true);
  });

  it('counts text anew after each delivery, and reads nothing after the end', async () => {
    const { cell, say } = await hostileCell();
    const long = 'x'.repeat(600_000);
    say([call(1, { input: long }), { t: 'idle', open: 1 }]);
    cell.deliver({ n: 1, ok: true, output: null });
    say([call(2, { input: long })]);
    say([{ t: 'end', open: 1, reply: '{"ok":true,"output":{"__proto__":{"x":1},"a":1}}' }, call(3)]);
    say([call(3)]);
    const reports = [await cell.next(), await cell.next(), await cell.next(), await cell.next()];
    expect(reports.at(-1)).toEqual({ t: 'end', open: 1, output: { a: 1 } });
  });

  it('ends the cell with its caller, and rejects what is read then', async () => {
    const own = new AbortController();
    const hostile = await hostileCell({ signal: own.signal });
    own.abort();
    expect(hostile.ended).toBe(true);
    expect(await outcomeOf(hostile.cell.next())).toBe('cancelled');
  });
});
