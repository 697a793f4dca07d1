import { describe, expect, it } from 'vitest';
import { placeOf } from '../../../../demo/knowledge/worker/place.ts';
import { citable, sourcesIn } from '../../../../demo/chat/state/citations.ts';
import { type CitedSource } from '../../../../demo/chat/state/run-data.ts';
import { fromStored, toStored } from '../../../../demo/chat/store/stored-message.ts';
import { type AssistantMessage, createAnswer } from '../../../../demo/chat/state/message.ts';
import { receive } from '../../../fixtures/page/receive.ts';

const source = (n: number, rest: Partial<CitedSource> = {}): CitedSource => ({
  n,
  dataSourceId: 'knowledge',
  id: `a.md#${n}`,
  uri: 'a.md',
  version: '1.1',
  confidence: 0.5,
  contentHash: 'abc',
  ...rest,
});
const emitted = (toolCallId: string, ...sources: readonly unknown[]) => ({
  type: 'data-sources',
  id: toolCallId,
  data: { toolCallId, sources },
});
const answerWith = (...chunks: readonly object[]): AssistantMessage => receive(...chunks);

describe('received sources', () => {
  it('are stored with the answer, by number, the latest of each call', () => {
    const answer = answerWith(emitted('b', source(3)), emitted('a', source(1)), emitted('b', source(3), source(2)));
    expect(sourcesIn(answer)).toEqual([source(1), source(2), source(3)]);
    const stored = fromStored(structuredClone(toStored(answer)));
    expect(stored && sourcesIn(stored)).toEqual(sourcesIn(answer));
  });

  it.each([
    ['no list', { type: 'data-sources', id: 'a', data: { toolCallId: 'a', sources: 'all' } }],
    ['no number', emitted('a', { ...source(1), n: '1' })],
    ['a confidence of more than all', emitted('a', source(1, { confidence: 2 }))],
  ])('are left out when they are malformed: %s', (_, chunk) => {
    expect(sourcesIn(answerWith(chunk))).toEqual([]);
  });

  it('can be cited by their answer and those after it', () => {
    const [first, second] = [answerWith(emitted('a', source(1))), answerWith(emitted('b', source(2)))];
    const question = { role: 'user', id: 'q', text: 'And?' } as const;
    const messages = [first, question, second];
    expect([...citable(messages, first).keys()]).toEqual([1]);
    expect([...citable(messages, second).keys()]).toEqual([1, 2]);
    expect(citable([], createAnswer({ id: 'x', model: 'm', startedAt: 0 })).size).toBe(0);
  });
});

describe('placeOf', () => {
  it('gives the part of a document, and the lines of code', () => {
    expect(placeOf(source(1, { id: 'a#b/c.md#12' }))).toEqual({ file: 'a#b/c.md', piece: 12, contentHash: 'abc' });
    expect(placeOf(source(1, { dataSourceId: 'knowledge-likeness', id: 'a.md#0' }))).toMatchObject({ piece: 0 });
    const code = source(1, { dataSourceId: 'knowledge-code', id: 'src/a.ts#L41-L50', lines: [41, 50] });
    expect(placeOf(code)).toEqual({ file: 'src/a.ts', piece: 1, lines: [41, 50] });
  });

  it.each([
    source(1, { dataSourceId: 'orders' }),
    source(1, { id: 'a memory without a file' }),
    source(1, { id: 'a.md#one' }),
    source(1, { dataSourceId: 'knowledge-code', id: 'a.ts#L1-L2' }),
  ])('gives nothing for what is no part of a file here: %j', (other) => {
    expect(placeOf(other)).toBeUndefined();
  });
});
