import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { budget } from '../../../fixtures/budget.ts';
import { type DifferenceName, differences, rewrite } from '../../../fixtures/loop/differences.ts';
import { normalize, type PlainChunk, type PlainOutcome } from '../../../fixtures/loop/normalize.ts';
import { runOracle, runOurs } from '../../../fixtures/loop/oracle.ts';
import { scripts } from '../../../fixtures/loop/random-scripts.ts';

/** Those that change only what they are about, whatever else was said. */
const names = (Object.keys(differences) as DifferenceName[]).filter((name) =>
  ![
    'outOfOrderFails',
    'metadataOnce',
    'firstFinishCounts',
    'titleOfProvider',
    'addressPassedOn',
    'deferredOnce',
    'providerCallAccepted',
    'providerApprovalFails',
  ].includes(name)
);

describe('a run against streamText of the AI SDK, whatever the model says', () => {
  it('shows and sends back the same, apart from what is listed', async () => {
    await fc.assert(
      fc.asyncProperty(scripts, async (said) => {
        const conversation = { scripts: said };
        const [theirs, ours] = await Promise.all([runOracle(conversation), runOurs(conversation)]);
        const expected = rewrite(normalize(theirs), { conversation, names });
        expect(withOutputsSorted(normalize(ours))).toEqual(withOutputsSorted(expected));
      }),
      { numRuns: budget({ short: 80, long: 2_000 }) },
    );
  });
});

/** Calls that are made at once may end in any order. */
function withOutputsSorted({ chunks, prompts }: PlainOutcome): PlainOutcome {
  const isOutput = ({ type, providerExecuted }: PlainChunk): boolean =>
    type.startsWith('tool-output') && !providerExecuted;
  const sorted = chunks.reduce<PlainChunk[][]>((groups, chunk) => {
    const last = groups.at(-1);
    if (last && isOutput(chunk) && last.every(isOutput)) last.push(chunk);
    else groups.push([chunk]);
    return groups;
  }, []).flatMap((group) => group.toSorted((a, b) => String(a['toolCallId']).localeCompare(String(b['toolCallId']))));
  return { chunks: sorted, prompts };
}
