import { describe, expect, it } from 'vitest';
import { writerTo } from '../../../adapters/cli/command.ts';

function written(text: string, isTTY?: boolean): string {
  let all = '';
  const output = { write: (part: string) => (all += part), ...(isTTY !== undefined && { isTTY }) };
  writerTo(output)(text);
  return all;
}

describe('writerTo', () => {
  const hostile = 'a\u001b]0;title\u0007b\u009b31mc\rd\u202ee\u007f\tf\r\ng\n';

  it('writes no control characters to a terminal', () => {
    expect(written(hostile, true)).toBe('a?]0;title?b?31mc?d?e?\tf\r\ng\n');
    expect(written('Größe 漢字 👩‍👩‍👧', true)).toBe('Größe 漢字 👩‍👩‍👧');
  });

  it.each([false, undefined])('writes every byte to files and pipes (isTTY %s)', (isTTY) => {
    expect(written(hostile, isTTY)).toBe(hostile);
  });
});
