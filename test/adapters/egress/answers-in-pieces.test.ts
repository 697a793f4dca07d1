import { describe, expect, it } from 'vitest';
import { answerInPieces, readers } from '../../fixtures/answers-in-pieces.ts';

describe('an answer', () => {
  it.each(readers)('of %s is not taken in single bytes', async (_name, text, type, read) => {
    const answer = answerInPieces(text, { size: 1, type });
    await expect(read(answer)).rejects.toThrow(/./); // some say what they read, some why
    expect(answer.taken()).toBeGreaterThan(4_000);
    expect(answer.taken()).toBeLessThan(4_500);
  });
});
