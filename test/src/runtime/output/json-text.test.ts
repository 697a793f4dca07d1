import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonCandidates, parsePartialJson } from '../../../../src/runtime/read-output.ts';

describe('parsePartialJson', () => {
  it('reads every beginning of JSON, and all of it whole', () => {
    const json = fc.jsonValue({ maxDepth: 4 }).filter((value) => typeof value === 'object' && value !== null);
    fc.assert(fc.property(json, (value) => {
      const text = JSON.stringify(value);
      for (let end = 1; end < text.length; end++) {
        expect(parsePartialJson(text.slice(0, end))).toBeTypeOf('object');
      }
      expect(JSON.stringify(parsePartialJson(text))).toBe(text);
    }));
  });
});

describe('jsonCandidates', () => {
  const value = '{"a":[1,{"b":"```"}]}';
  it.each([
    ['alone', value],
    ['in a fence', `\`\`\`json\n${value}\n\`\`\``],
    ['in a fence on one line', `\`\`\`json ${value} \`\`\``],
    ['in a fence without a language', `\`\`\`${value}\`\`\``],
    ['in an open fence', `\`\`\`JSON\n${value}`],
    ['after a sentence', `Sure, here it is:\n\n${value}`],
    ['before a sentence', `${value}\nI hope that this helps.`],
    ['after a sentence, in a fence', `Result:\n\`\`\`json\n${value}\n\`\`\`\nAnything else?`],
    ['after thoughts', `<think>\nIs it {"a":2}? No.\n</think>\n${value}`],
    ['after thoughts without an opening tag', `It could be [1] or {2}.\n</think>\n\n${value}`],
    ['after thoughts, in a fence', `<thinking>hm</thinking>\`\`\`\n${value}\`\`\``],
  ])('finds JSON %s', (_, text) => {
    const parsed = jsonCandidates(text).flatMap((candidate) => {
      try {
        return [JSON.stringify(JSON.parse(candidate))];
      } catch {
        return [];
      }
    });
    expect(parsed[0]).toBe(value);
  });

  it('prefers the list that a sentence introduces to the object in it', () => {
    expect(jsonCandidates('Found: [{"a":1}]').find((text) => text.startsWith('[') || text.startsWith('{'))).toBe(
      '[{"a":1}]',
    );
  });

  it('finds nothing in thoughts alone', () => {
    expect(jsonCandidates('<think>{"a":1}')).toEqual(['<think>{"a":1}']);
  });

  it('reads text of any kind in linear time', () => {
    for (const piece of ['```', '<think>', '</think>', '{', '[', '```json\n{']) {
      expect(jsonCandidates(piece.repeat(20_000)).length).toBeGreaterThan(0);
    }
  });
});

describe('parsePartialJson of an answer with other text', () => {
  it.each([
    ['<think>what', undefined],
    ['<think>what</think>{"a":"x', { a: 'x' }],
    ['Here you are: {"a":"x', { a: 'x' }],
    ['Here you are', undefined],
    ['```json {"a":"x', { a: 'x' }],
  ])('reads %j', (text, value) => {
    expect(parsePartialJson(text)).toEqual(value);
  });
});
