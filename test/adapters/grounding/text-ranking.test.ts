import { describe, expect, it } from 'vitest';
import { textSource } from '../../../adapters/grounding/text.ts';
import type { GroundingItem, SourceHit } from '../../../src/contracts/index.ts';
import { neverAborted } from '../../fixtures/grounding.ts';

async function found(items: readonly GroundingItem[], query: string): Promise<readonly SourceHit[]> {
  const source = textSource({ id: 'notes' });
  await source.remember({ tenant: 'local', items }, neverAborted());
  return await source.retrieve({ tenant: 'local', query, topK: 10, filters: [] }, neverAborted());
}

const item = (id: string, text: string, more: Partial<GroundingItem> = {}): GroundingItem => ({ id, text, ...more });
const idsOf = (hits: readonly SourceHit[]): string[] => hits.map(({ id }) => id);

describe('textSource ranks', () => {
  it('words that are near each other before the same words far apart', async () => {
    const far = `gold ${'filler '.repeat(12)} card`;
    expect(idsOf(await found([item('far', far), item('near', `gold card ${'filler '.repeat(12)}`)], 'gold card'))[0])
      .toBe('near');
  });

  it('words of everyday talk below the words that the talk is about', async () => {
    const items = [item('a', 'Hello sailors'), item('b', 'Stolen sailors')]; // of equal ones the smaller id is first
    expect(idsOf(await found(items, 'Hello, it was stolen'))).toEqual(['b', 'a']);
  });

  it('parts of a file that has the rest of the question before parts of another file', async () => {
    const items = [
      item('a1', 'Workers and queues', { uri: 'a.md#1' }),
      item('a2', 'Set the limit here', { uri: 'a.md#2' }),
      item('b1', 'Set the limit here', { uri: 'b.md#1' }),
      item('b2', 'Something else', { uri: 'b.md#2' }),
    ];
    const ids = idsOf(await found(items, 'limit of workers'));
    expect(ids.indexOf('a2')).toBeLessThan(ids.indexOf('b1'));
  });
});

describe('textSource finds', () => {
  const items = [
    item('ship', 'The harbourmaster keeps the register of ships.'),
    item('code', 'Call parseHTMLNode before streamSSE.'),
    item('hand', 'The employee handbook has the rules.'),
    item('cafe', 'Das Café öffnet früh.'),
  ];

  it('a word that no item has as a typing slip, a longer word or a compound, beside words that it has', async () => {
    expect(idsOf(await found(items, 'rules of the handbok'))[0]).toBe('hand');
    expect(idsOf(await found(items, 'harbour'))).toEqual(['ship']);
    expect(idsOf(await found(items, 'employeehandbook'))).toEqual(['hand']);
  });

  it('identifiers by their parts and as a whole, and words without their accents', async () => {
    for (const query of ['html node', 'streamSSE', 'parsehtmlnode']) {
      expect(idsOf(await found(items, query))).toEqual(['code']);
    }
    expect(idsOf(await found(items, 'cafe'))).toEqual(['cafe']);
  });

  it('an item by its id with certainty, where the filters let it pass', async () => {
    const source = textSource({ id: 'notes' });
    await source.remember({ tenant: 'local', items }, neverAborted());
    const ask = (value: string) =>
      source.retrieve(
        { tenant: 'local', query: 'hand', topK: 1, filters: [{ field: 'id', op: 'eq', value }] },
        neverAborted(),
      );
    expect(await ask('hand')).toMatchObject([{ id: 'hand', confidence: 0.99, answered: 0.99 }]);
    expect(idsOf(await ask('ship'))).not.toContain('hand');
  });

  it('items of a query that has nothing but stop words where their text has nothing else either', async () => {
    expect(idsOf(await found([item('who', 'Who am I?'), ...items], 'who am I'))).toEqual(['who']);
  });

  it('the passage with the most of the question in a long text', async () => {
    const text = `${'The card is a card. '.repeat(300)}\nA lost card is replaced within a week.\n${
      'The card is blue. '.repeat(300)
    }`;
    const [hit] = await found([item('long', text), item('short', 'Another card')], 'how is a lost card replaced');
    expect(hit?.content).toContain('replaced within a week');
  });
});
