import { describe, expect, it } from 'vitest';
import { textSource } from '../../../adapters/grounding/text.ts';
import { vectorSource } from '../../../adapters/grounding/vector.ts';
import { type Calibration, fitCalibration, type JudgedHit, type RetrieveInput } from '../../../src/grounding/index.ts';
import { createGrounding, type GroundingSource } from '../../../src/index.ts';
import type { WritableGroundingSource } from '../../../src/contracts/index.ts';
import { calibrationError } from '../../../src/grounding/calibration.ts';
import { neverAborted } from '../../fixtures/grounding.ts';
import { randomNumbers } from '../../fixtures/chance/random.ts';

const random = randomNumbers(11);
const upTo = (end: number): number => Math.floor(random() * end);
const gauss = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
const topics = 150;

/** A question, and the topic that it is about. */
interface Asked {
  readonly topic: number;
  readonly question: Omit<RetrieveInput, 'dataSourceIds'>;
}

interface World {
  readonly source: WritableGroundingSource;
  readonly item: (topic: number) => { readonly text: string; readonly embedding?: readonly number[] };
  readonly ask: (topic: number) => Asked['question'];
}

/** Words of topics, which share some, among common ones; of the words of a question some are of its topic, or most. */
function words(): World {
  const wordOf = (topic: number): string => `w${(topic * 7 + upTo(16)) % (topics * 7)}`;
  const any = (): string => random() < 0.5 ? wordOf(upTo(topics)) : `common${upTo(60)}`;
  const mixed = (topic: number, count: number, share: number): string =>
    Array.from({ length: count }, () => random() < share ? wordOf(topic) : any()).join(' ');
  return {
    source: textSource({ id: 's' }),
    item: (topic) => ({ text: mixed(topic, 16, 0.5) }),
    ask: (topic) => ({ query: mixed(topic, 6, 0.2 + 0.8 * random()) }),
  };
}

/** Points about the centres of topics; questions lie farther off, some of them far. */
function vectors(): World {
  const centres = Array.from({ length: topics }, () => Array.from({ length: 64 }, gauss));
  const near = (topic: number, far: number): number[] => centres[topic]!.map((x) => x + far * gauss());
  return {
    source: vectorSource({ id: 's' }),
    item: (topic) => ({ text: `Item ${random()}`, embedding: near(topic, 0.8) }),
    ask: (topic) => ({ embedding: near(topic, 0.5 + 2.5 * random()) }),
  };
}

async function judge(sources: readonly GroundingSource[], asked: readonly Asked[], calibration?: Calibration) {
  const grounding = createGrounding({ sources, ...(calibration && { calibrations: { s: calibration } }) });
  const judged: JudgedHit[] = [];
  for (const { topic, question } of asked) {
    const { hits } = await grounding.retrieve({ ...question, dataSourceIds: ['s'], topK: 6, budgetMs: 60_000 });
    for (const { confidence, metadata, calibrated } of hits) {
      judged.push({ confidence, relevant: metadata['topic'] === topic });
      expect(calibrated).toBe(calibration !== undefined);
    }
  }
  return judged;
}

describe('a source that was calibrated by judged hits', () => {
  it.each([['words', words, 0.1], ['vectors', vectors, 0.05]])(
    'says of other hits how probable it is that they are relevant: %s',
    async (_name, create, bar) => {
      const { source, item, ask } = create();
      const items = Array.from(
        { length: topics * 6 },
        (_, at) => ({ id: `i${at}`, metadata: { topic: at % topics }, ...item(at % topics) }),
      );
      await source.remember({ tenant: 'local', items }, neverAborted());
      const asked = Array.from({ length: 600 }, (): Asked => {
        const topic = upTo(topics);
        return { topic, question: ask(topic) };
      });
      const fit = fitCalibration(await judge([source], asked.slice(0, 300)));
      const heldBack = await judge([source], asked.slice(300), fit);
      const before = await judge([source], asked.slice(300));
      expect(heldBack.length).toBeGreaterThan(500);
      expect(calibrationError(before)).toBeGreaterThan(calibrationError(heldBack));
      expect(calibrationError(heldBack)).toBeLessThanOrEqual(bar);
    },
    60_000,
  );
});
