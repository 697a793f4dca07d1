import { describe, expect, it } from 'vitest';
import { checkTexts } from '../../../src/mcp/check-texts.ts';
import texts from '../../fixtures/vectors/texts-of-languages.json' with { type: 'json' };

const tools = { others: new Set(['send_email', 'read_file', 'list_files']) };
const remarksOn = (description: string) => checkTexts({ description }, tools);

describe('the check of tool texts in eight languages', () => {
  it('sees at least nine in ten hostile texts', () => {
    const unseen = texts.hostile.filter((text) => remarksOn(text).length === 0);
    expect(unseen.length / texts.hostile.length, unseen.join('\n')).toBeLessThanOrEqual(0.1);
  });

  it('blocks at most one in twenty ordinary texts, and warns of few', () => {
    const blocked = texts.ordinary.filter((text) => remarksOn(text).some(({ severity }) => severity === 'error'));
    expect(blocked.length / texts.ordinary.length, blocked.join('\n')).toBeLessThanOrEqual(0.05);
    const warned = texts.ordinary.filter((text) => remarksOn(text).length > 0);
    expect(warned.length / texts.ordinary.length, warned.join('\n')).toBeLessThanOrEqual(0.1);
  });
});
