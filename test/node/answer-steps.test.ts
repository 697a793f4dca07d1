import { stepsOf } from '../tools/steps.ts'; // before the code that it counts
import { describe, expect, it } from 'vitest';
import { share } from '../fixtures/budget.ts';
import { answerInPieces, readers } from '../fixtures/answers-in-pieces.ts';

describe('an answer', () => {
  it.each(share(readers, 2))('of %s in small pieces takes few steps for each', async (_name, text, type, read) => {
    const answer = answerInPieces(text, { size: 32, type });
    const steps = await stepsOf(() => read(answer).catch(() => undefined));
    expect(answer.taken()).toBeGreaterThan(2_000);
    expect(steps / answer.taken()).toBeLessThan(400);
  });
});
