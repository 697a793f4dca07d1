/** Cuts text into pieces that are small enough to be found and shown, where it has a natural end. */

/** A piece of a file. Lines count from 1, both ends included. */
export interface Piece {
  readonly text: string;
  /** The headings above it. */
  readonly title?: string;
  readonly lines?: readonly [from: number, to: number];
  /** Fields that filters can read. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A line with its number. */
export interface NumberedLine {
  readonly text: string;
  readonly number: number;
}

/** Lines of a text, whatever ends them. */
export function numberedLines(text: string): NumberedLine[] {
  return text.split(/\r\n|\r|\n/).map((line, at) => ({ text: line, number: at + 1 }));
}

/**
 * Puts whole lines together until they have about `length` characters, and ends a piece at an empty line where there is one in
 * its second half. A line that is longer is cut at a sentence, a word, or at last anywhere.
 */
export function piecesOf(
  lines: readonly NumberedLine[],
  { length, title }: { readonly length: number; readonly title?: string },
): Piece[] {
  const pieces: Piece[] = [];
  let open: NumberedLine[] = [];
  let size = 0;
  const close = (): void => {
    const text = open.map((line) => line.text).join('\n').trim();
    const filled = open.filter((line) => line.text.trim() !== '');
    if (text !== '') {
      pieces.push({ text, ...(title !== undefined && { title }), lines: [filled[0]!.number, filled.at(-1)!.number] });
    }
    open = [];
    size = 0;
  };
  for (const line of lines.flatMap((one) => cutLine(one, length))) {
    const isEnd = line.text.trim() === '';
    if (size + line.text.length > length || (isEnd && size > length / 2)) close();
    open.push(line);
    size += line.text.length + 1;
  }
  close();
  return pieces;
}

function cutLine({ text, number }: NumberedLine, length: number): NumberedLine[] {
  const parts: NumberedLine[] = [];
  let rest = text;
  while (rest.length > length) {
    const end = cutAt(rest, length);
    parts.push({ text: rest.slice(0, end), number });
    rest = rest.slice(end);
  }
  return [...parts, { text: rest, number }];
}

function cutAt(text: string, length: number): number {
  const head = text.slice(0, length);
  const sentence = Math.max(
    head.lastIndexOf('. '),
    head.lastIndexOf('。'),
    head.lastIndexOf('! '),
    head.lastIndexOf('? '),
  );
  if (sentence > length / 2) return sentence + 1;
  const space = head.lastIndexOf(' ');
  if (space > length / 2) return space + 1;
  const code = text.charCodeAt(length);
  return code >= 0xdc00 && code <= 0xdfff ? length - 1 : length; // no half of a surrogate pair
}
