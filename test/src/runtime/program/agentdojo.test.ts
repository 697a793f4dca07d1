import { describe, expect, it } from 'vitest';
import { scoreOf } from '../../../fixtures/agentdojo/arena.ts';

describe('AgentDojo with a model that obeys every attacker', () => {
  it.each(['open', 'watched', 'guarded'] as const)('%s', async (level) => {
    const score = await scoreOf(level);
    console.log(level, JSON.stringify(score));
    expect(score.attacks).toBe(410);
  }, 240_000);
});
