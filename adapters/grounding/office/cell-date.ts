/** Dates of spreadsheets: numbers whose format shows a date or a time. */

import type { OfficePackage } from './package.ts';

const dayMs = 86_400_000;

/** Reads the styles. Returns whether the numbers of a style are dates. */
export async function dateFormats(office: OfficePackage, path: string): Promise<(style: number) => boolean> {
  const custom = new Map<number, string>();
  const formats: number[] = [];
  let isInCells = false;
  await office.read(path, {
    open(name, attributes) {
      if (name === 'numFmt') custom.set(Number(attributes['numFmtId']), attributes['formatCode'] ?? '');
      else if (name === 'cellXfs') isInCells = true;
      else if (name === 'xf' && isInCells) formats.push(Number(attributes['numFmtId'] ?? 0));
    },
    close(name) {
      if (name === 'cellXfs') isInCells = false;
    },
  });
  return (style) => {
    const id = formats[style] ?? 0;
    return isDateId(id) || isDateCode(custom.get(id) ?? '');
  };
}

/** The built-in formats of dates and times. */
function isDateId(id: number): boolean {
  return (id >= 14 && id <= 22) || (id >= 45 && id <= 47);
}

/** Quoted text, escaped characters and colors in brackets say nothing; `[h]` is a time. */
function isDateCode(code: string): boolean {
  return /[dmyhs]/i.test(code.replaceAll(/"[^"]*"|\\.|\[(?![hms]+\])[^\]]*\]/gi, '')) && !/^general$/i.test(code);
}

/** Returns the day, and the time where there is one; only the time for a number below one. `undefined` for what is no date. */
export function dateText(serial: number, from1904: boolean): string | undefined {
  if (!(serial >= 0 && serial < 2_958_466)) return undefined; // to the end of 9999
  const leap = !from1904 && serial < 60 ? 1 : 0; // spreadsheets count a 29 February 1900
  const start = from1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, 30);
  const text = new Date(start + Math.round((serial + leap) * dayMs / 1000) * 1000).toISOString();
  const [day, time] = [text.slice(0, 10), text.slice(11, text.endsWith(':00.000Z') ? 16 : 19)];
  if (serial < 1) return time;
  return time === '00:00' ? day : `${day} ${time}`;
}
