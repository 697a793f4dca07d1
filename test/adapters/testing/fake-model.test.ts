import { describe, expect, it } from 'vitest';
import { fakeModel } from '../../contracts/index.ts';

describe('fakeModel', () => {
  it('stays open until its promise settles', async () => {
    const open = Promise.withResolvers<void>();
    const fake = fakeModel({ text: 'Wait', until: open.promise });
    const { stream } = await fake.model.doStream({ prompt: [] });
    const reader = stream.getReader();
    for (const type of ['stream-start', 'text-start', 'text-delta']) {
      expect((await reader.read()).value).toMatchObject({ type });
    }
    const next = reader.read();
    expect(await Promise.race([next, Promise.resolve('open')])).toBe('open');
    open.resolve();
    expect((await next).value).toMatchObject({ type: 'text-end' });
  });
});
