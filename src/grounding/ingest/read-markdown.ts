/** Reads Markdown by its headings: each piece has the headings above it. */

import { type NumberedLine, numberedLines, type Piece, piecesOf } from './pieces.ts';

/** Returns the pieces; `#` within a fenced block of code is no heading. */
export function readMarkdown(text: string, { length }: { readonly length: number }): Piece[] {
  const pieces: Piece[] = [];
  const path: string[] = [];
  let lines: NumberedLine[] = [];
  let fence = '';
  const close = (): void => {
    const title = path.filter((heading) => heading !== '').join(' › ').slice(0, 500).toWellFormed();
    pieces.push(...piecesOf(lines, { length, ...(title !== '' && { title }) }));
    lines = [];
  };
  for (const line of numberedLines(text)) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line.text)?.[1];
    if (mark && fence === '') fence = mark;
    else if (mark && mark.startsWith(fence)) fence = '';
    const heading = fence === '' ? /^ {0,3}(#{1,6})[ \t]+(\S.*)$/.exec(line.text) : null;
    if (heading) {
      close();
      path.length = heading[1]!.length - 1;
      path.push(heading[2]!.replace(/[ \t]#+[ \t]*$/, '').trim());
      for (let at = 0; at < path.length; at++) path[at] ??= '';
    }
    lines.push(line);
  }
  close();
  return pieces;
}
