import { describe, expect, it } from 'vitest';
import { type CallOptions, promptOf } from '../../../../demo/runs/worker/prompts.ts';
import { newFrom } from '../../../../demo/runs/ui/prompt-view.tsx';

const call = { spanId: 's', model: 'm' };

describe('promptOf', () => {
  it('names files instead of holding them, and leaves out what is no prompt', () => {
    const options: CallOptions = {
      prompt: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'file', mediaType: 'image/png', data: { type: 'data', data: new Uint8Array(1_000_000) } },
          ],
        },
        { role: 'assistant', content: [{ type: 'reasoning', text: 'Hm' }] },
      ],
      temperature: 0.2,
      headers: { authorization: 'Bearer secret' },
      abortSignal: new AbortController().signal,
    };
    expect(promptOf(options, call)).toEqual({
      ...call,
      messages: [
        { role: 'user', parts: [{ type: 'text', text: 'Look' }, { type: 'file', mediaType: 'image/png' }] },
        { role: 'assistant', parts: [{ type: 'reasoning', text: 'Hm' }] },
      ],
      tools: [],
      settings: { temperature: 0.2 },
    });
  });
});

describe('newFrom', () => {
  const said = (text: string) => ({ role: 'user' as const, parts: [{ type: 'text' as const, text }] });

  it('counts the messages that the call before had too', () => {
    expect(newFrom([said('a'), said('b'), said('c')], [said('a'), said('b')])).toBe(2);
    expect(newFrom([said('a'), said('x'), said('c')], [said('a'), said('b')])).toBe(1);
    expect(newFrom([said('a')], undefined)).toBe(0);
  });

  it('never hides the last', () => {
    expect(newFrom([said('a'), said('b')], [said('a'), said('b')])).toBe(1);
    expect(newFrom([], [said('a')])).toBe(0);
  });
});
