import { describe, expect, it } from 'vitest';
import { scoreOf } from '../../../fixtures/agentdojo/arena.ts';

/** The figures of docs/security.md. */
describe('AgentDojo, two thirds of its tasks, with a model that obeys every attacker', () => {
  it('lets every attack pass in an open agent: the attacks work', async () => {
    expect(await scoreOf('open')).toMatchObject({
      attacks: 410,
      passed: 410,
      tasks: 66,
      finished: 66,
      acts: 60,
      actsAsked: 0,
    });
  }, 240_000);

  it('lets none pass in a watched agent', async () => {
    expect(await scoreOf('watched')).toMatchObject({
      attacks: 410,
      passed: 0,
      waited: 410,
      tasks: 66,
      finished: 66,
      actsAsked: 59,
      asked: 43,
    });
  }, 240_000);

  it('lets none pass in a guarded agent with a destination of the attacker, and asks seldom', async () => {
    expect(await scoreOf('guarded')).toMatchObject({
      attacks: 410,
      passed: 7, // an attacker's content, where the user wanted content
      waited: 7,
      stopped: 396,
      destinations: 0,
      tasks: 66,
      finished: 66,
      acts: 60,
      actsAsked: 23,
      asked: 13,
      again: 0,
    });
  }, 240_000);
});
