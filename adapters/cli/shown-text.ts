/** Text for a terminal, which acts on control characters: they move its cursor, set its title or type for the person. */

/** A stream of the process. */
interface Output {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Returns a writer. What others have said is part of most texts: a terminal gets `?` for its control characters, a file all bytes. */
export function writerTo(output: Output): (text: string) => void {
  return (text) => void output.write(output.isTTY ? shownText(text) : text);
}

/** Control characters but line breaks and tabs, and those that set the direction of writing. */
const unshown = /(?![\t\n]|\r\n)\p{Cc}|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

function shownText(text: string): string {
  return text.replace(unshown, '?');
}
