import { describe, expect, it } from 'vitest';
import { differences, rewrite } from '../../../fixtures/loop/differences.ts';
import { normalize } from '../../../fixtures/loop/normalize.ts';
import { returning } from '../../../fixtures/loop/oracle-tools.ts';
import { runOracle, runOurs } from '../../../fixtures/loop/oracle.ts';
import { answer, call, done, finish } from '../../../fixtures/loop/parts.ts';
import { approvalScenarios } from '../../../fixtures/loop/scenarios/approvals.ts';
import { callScenarios } from '../../../fixtures/loop/scenarios/calls.ts';
import { contentScenarios } from '../../../fixtures/loop/scenarios/content.ts';
import { endScenarios } from '../../../fixtures/loop/scenarios/ends.ts';
import { providerCallScenarios } from '../../../fixtures/loop/scenarios/provider-calls.ts';
import { versionScenarios } from '../../../fixtures/loop/scenarios/versions.ts';

const scenarios = [
  ...contentScenarios,
  ...callScenarios,
  ...providerCallScenarios,
  ...approvalScenarios,
  ...endScenarios,
  ...versionScenarios,
];

describe('a run against streamText of the AI SDK', () => {
  it.each(scenarios)('shows and sends back the same, apart from what is listed: $name', async (scenario) => {
    const { conversation, differs = [] } = scenario;
    const [theirs, ours] = await Promise.all([runOracle(conversation), runOurs(conversation)]);
    const rewritten = (names: typeof differs) => rewrite(normalize(theirs), { conversation, names });
    const expected = rewritten(differs);
    expect(normalize(ours)).toEqual(expected);
    for (const name of differs) { // a listed difference that is none is to be removed
      expect(rewritten(differs.filter((other) => other !== name)), name).not.toEqual(expected);
    }
  });

  it('differs only in ways that a scenario shows', () => {
    const shown = new Set(scenarios.flatMap(({ differs = [] }) => differs));
    expect([...shown].toSorted()).toEqual(Object.keys(differences).toSorted());
  });

  it.each(['eos', 'end_turn', 'tool_use', ''])(
    'makes the calls of an answer that ends regularly under the name %j',
    async (raw) => {
      const conversation = {
        scripts: [[...answer(call('echo', { n: 1 })).slice(0, -1), finish('other', { raw })], done],
      };
      const [theirs, ours] = await Promise.all([runOracle(conversation), runOurs(conversation)]);
      expect(theirs.prompts).toHaveLength(1);
      expect(ours.prompts).toHaveLength(2);
      expect(ours.chunks.at(-1)).toEqual({ type: 'finish', finishReason: 'stop' });
    },
  );

  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;

  it.each([['a BigInt', 1n], ['a cycle', cyclic]])('fails the call alone when a tool returns %s', async (_, output) => {
    const conversation = { scripts: [answer(call('odd', {})), done], tools: [returning('odd', output)] };
    const [theirs, ours] = await Promise.all([runOracle(conversation), runOurs(conversation)]);
    expect([theirs.chunks.at(-1)?.type, theirs.prompts.length]).toEqual(['error', 1]);
    expect(ours.chunks.at(-1)).toEqual({ type: 'finish', finishReason: 'stop' });
    expect(ours.chunks.map(({ type }) => type)).toContain('tool-output-error');
    expect(ours.prompts).toHaveLength(2);
  });
});
