import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { officeText } from '../../adapters/grounding/office-text.ts';
import { textSource } from '../../adapters/grounding/text.ts';
import { memoryStorage } from '../../adapters/storage/memory.ts';
import { createGrounding, ingest } from '../../src/grounding/index.ts';

const handbook = `# Harbor handbook

Ships & boats moor at Pier 4. The fee is 12 € <per night>.

## Opening hours

- Monday to Friday: 8 to 18
- Weekends: closed

## Contacts

| Name | Radio channel |
| Ada Møller | 12 |
| Grace 陈 | 16 |

\\# not a heading`;

const moorings = (time: string, active: readonly [string, string], sum: string) =>
  `## Moorings

| Berth | Ship | Arrived | Fee |

- Berth: A1; Ship: Nordlys; Arrived: 2026-11-03; Fee: 120.5
- Berth: B2; Ship: Sea & Sky; Arrived: 2026-11-20 ${time}; Fee: 80
- Berth: C3${sum}

## Crew

| Name | Active |

- Name: Ada Møller; Active: ${active[0]}
- Name: Grace 陈; Active: ${active[1]}`;

const fleet = `## Fleet review

Three ships need new sails

Mention the dry dock in March.

## Next steps

| Task | Owner |
| Order canvas | Ada & Grace |

## Slide 3

A slide without a title`;

/** Written by LibreOffice 7.4, openpyxl 3.0 and PptxGenJS 4. */
async function read(name: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await readFile(join(import.meta.dirname, '../fixtures/office', name)));
}

describe('office files of other programs', () => {
  it.each([
    ['handbook.docx', handbook],
    ['handbook.odt', handbook],
    ['moorings.xlsx', moorings('14:30', ['true', 'false'], '')], // openpyxl stores no results of formulas
    ['moorings.ods', moorings('14:30:00', ['TRUE', 'FALSE'], '; Fee: 200.5')],
    ['fleet.pptx', fleet],
    ['fleet.odp', fleet],
  ])('%s is read', async (name, text) => {
    expect(await officeText(await read(name))).toBe(text);
  });

  it('are found by what they say, under the heading above it', async () => {
    const storage = memoryStorage();
    const grounding = createGrounding({ sources: [textSource({ id: 'docs', storage })] });
    const names = ['handbook.docx', 'moorings.xlsx', 'fleet.pptx'];
    const files = names.map((name) => ({ name, text: async () => await officeText(await read(name)) }));
    const report = await ingest(grounding, { dataSourceId: 'docs', files, storage });
    expect(report.files.map(({ state }) => state)).toEqual(['done', 'done', 'done']);
    const ask = async (query: string) => (await grounding.retrieve({ dataSourceId: 'docs', query, topK: 1 })).hits[0];
    expect(await ask('Which radio channel does Ada have?')).toMatchObject({
      title: 'Harbor handbook › Contacts',
      metadata: { file: 'handbook.docx' },
    });
    expect((await ask('When did the Nordlys arrive?'))?.content).toContain('Arrived: 2026-11-03');
    expect(await ask('Who orders the canvas?')).toMatchObject({ title: 'Next steps' });
  });
});
