/** Text as its paragraphs: lines that an editor or a page has broken flow on. */

/** A shorter line ends where its author wants it to. */
const wrapped = 48;

/** Starts a line of its own in Markdown: a heading, an item, a quote, a row of a table, a rule or code. */
const ownLine = /^(?: {4}|\t|\s{0,3}(?:#{1,6}\s|[-*+]\s|\d{1,9}[.)]\s|[>|]|(?:-{3,}|={3,}|\*{3,})\s*$))/;
const fence = /^\s{0,3}(?:```|~~~)/;

/** Puts a space for each line break within a paragraph, so that no place in the text moves. */
export function flowingText(text: string): string {
  const lines = text.split('\n');
  let isCode = false;
  return lines.reduce((flowing, line, i) => {
    if (i === 0) return line;
    const before = lines[i - 1] ?? '';
    if (fence.test(before)) isCode = !isCode;
    const isBroken = !isCode && before.trimEnd().length >= wrapped && !/^\s{0,3}(?:#{1,6}\s|\|)/.test(before) &&
      line.trim() !== '' && !ownLine.test(line) && !fence.test(line);
    return `${flowing}${isBroken ? ' ' : '\n'}${line}`;
  }, '');
}
