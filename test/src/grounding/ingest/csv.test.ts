import { describe, expect, it } from 'vitest';
import { parseCsv } from '../../../../src/grounding/ingest/csv.ts';

describe('parseCsv', () => {
  it('reads quotes, separators and lines within fields, numbers, booleans and gaps', () => {
    expect(parseCsv('\uFEFFa,b,c\r\n"x, ""y""\nz",1.5e2,true\r\n"1",007,\r\n\r\n,,"false"')).toEqual([
      { a: 'x, "y"\nz', b: 150, c: true },
      { a: '1', b: '007' },
      { c: 'false' },
    ]);
    expect(parseCsv('a;b\n1;2', { separator: ';' })).toEqual([{ a: 1, b: 2 }]);
    expect(parseCsv('a,b\n1,')).toEqual([{ a: 1 }]);
    expect(parseCsv('a\n')).toEqual([]);
  });

  it('refuses what is no CSV, and names the record', () => {
    for (
      const [text, line] of [['a\n"open', 2], ['a\n1,2', 2], ['a,a\n1,2', 1], ['', 1], ['a,__proto__\n1,2', 1], [
        'a\n"x"y',
        2,
      ]] as const
    ) {
      expect(() => parseCsv(text), text).toThrow(`record ${line}`);
    }
  });
});
