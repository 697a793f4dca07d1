import { describe, expect, it } from 'vitest';
import { parseCsv } from '../../../../src/grounding/ingest/csv.ts';

describe('parseCsv', () => {
  it.each([
    ['semicolons and decimal commas', 'schiff;tiefgang\nMöwe;3,20\nKormoran;4,75\n'],
    ['tabs', 'schiff\ttiefgang\nMöwe\t3,20\nKormoran\t4,75\n'],
    ['bars', 'schiff|tiefgang\nMöwe|3,20\nKormoran|4,75\n'],
    ['commas and quotes', 'schiff,tiefgang\n"Möwe","3,20"\n"Kormoran","4,75"\n'],
    ['a line that names the separator', 'sep=^\nschiff^tiefgang\nMöwe^3,20\nKormoran^4,75\n'],
    ['carriage returns alone', 'schiff;tiefgang\rMöwe;3,20\rKormoran;4,75\r'],
    ['ends of lines of two kinds', 'schiff;tiefgang\r\nMöwe;3,20\nKormoran;4,75'],
    ['spaces before its quotes', 'schiff, tiefgang\n"Möwe", "3,20"\n"Kormoran", "4,75"\n'],
    ['blank columns and lines', ';;\nschiff;tiefgang;;\nMöwe;3,20;;\n;;\nKormoran;4,75;;\n'],
  ])('finds the separator of a file with %s', (_, text) => {
    expect(parseCsv(text)).toEqual([
      { schiff: 'Möwe', tiefgang: '3,20' },
      { schiff: 'Kormoran', tiefgang: '4,75' },
    ]);
  });

  it.each([
    ['one line', 'Ships\nname,draft,port\nGull,3,Kiel\n', [{ 'column 1': 'Ships' }]],
    ['lines and a gap', 'Ships\nof 2026\n\nname,draft,port\nGull,3,Kiel\n', [{ 'column 1': 'Ships' }, {
      'column 1': 'of 2026',
    }]],
    ['no line', 'name,draft,port\nGull,3,Kiel\n', []],
  ])('takes no title above the names for a name: %s', (_, text, titles) => {
    expect(parseCsv(text)).toEqual([...titles, { name: 'Gull', draft: '3', port: 'Kiel' }]);
  });

  it('takes a title for one where a line without fields follows', () => {
    expect(parseCsv('Fleet of 2026\n\nname,draft\nGull,3\n')).toEqual([{ 'column 1': 'Fleet of 2026' }, {
      name: 'Gull',
      draft: '3',
    }]);
  });

  it('takes a comment above two columns for no name', () => {
    expect(parseCsv('# of 2026\nname,draft\nGull,3\n')).toEqual([{ 'column 1': '# of 2026' }, {
      name: 'Gull',
      draft: '3',
    }]);
    expect(parseCsv('#,name\n1,Gull\n')).toEqual([{ '#': '1', name: 'Gull' }]);
  });

  it('takes one column of sentences for what it is', () => {
    const text = 'note\nFog, no wind\nRain, wind, cold and hail\nSun\n';
    expect(parseCsv(text).map(({ note }) => note)).toEqual(['Fog', 'Rain', 'Sun']);
  });

  it('loses no value that has no name, and none whose name is there before', () => {
    expect(parseCsv('berth,,berth,__proto__\n1,2,3,4,5\n')).toEqual([
      { 'berth': '1', 'column 2': '2', 'berth (2)': '3', 'column 4': '4', 'column 5': '5' },
    ]);
  });

  it('reads a line with an open quote as it is written, and the lines after it as before', () => {
    const text = 'size,note\n5" pipe,fits\n"12 inch,open\n"quoted, well",yes\n';
    expect(parseCsv(text)).toEqual([
      { size: '5" pipe', note: 'fits' },
      { size: '"12 inch', note: 'open' },
      { size: 'quoted, well', note: 'yes' },
    ]);
    const broken = `a,b\n${'"open,x\n'.repeat(50)}last,one\n`;
    expect(parseCsv(broken).at(-1)).toEqual({ a: 'last', b: 'one' });
  });
});
