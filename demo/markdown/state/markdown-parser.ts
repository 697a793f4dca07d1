/**
 * Markdown by markdown-it: CommonMark, tables, ~~deletions~~ and addresses, without HTML. Beyond it, as answers are written: formulas,
 * numbers of sources, and lists within numbered ones that are indented by two columns. Setext headings and code by indentation are not
 * read: a line of dashes below a text, and a text that is indented, are mostly meant as what they look like.
 *
 * Hostile text stays cheap: nesting ends at a depth, a formula ends within some lines, and what markdown-it does is near linear.
 */

import MarkdownIt, { type StateBlock, type StateInline, type Token } from 'markdown-it';
import { citation } from '../../chat/state/citations.ts';

/** How deep quotes, lists and marks are read; deeper ones are text. */
export const maxDepth = 20;

const parser = new MarkdownIt({ linkify: true, maxNesting: maxDepth + 4 }).disable(['lheading', 'code']);
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
parser.validateLink = () => true; // what reads the tokens decides where a link leads
parser.normalizeLink = (url) => url;
parser.normalizeLinkText = (text) => text;
parser.block.ruler.before('table', 'deep', readDeepAsText);
parser.block.ruler.before('fence', 'math', readMathBlock, { alt: ['paragraph', 'reference', 'blockquote', 'list'] });
parser.inline.ruler.before('escape', 'math', readMathInline);
parser.inline.ruler.before('link', 'citation', readCitation);

/** Returns the tokens of these lines, which have their places in the text. */
export function tokensOf(lines: readonly string[]): Token[] {
  return parser.parse(widened(lines).join('\n'), {});
}

function readDeepAsText(state: StateBlock, start: number, end: number, silent: boolean): boolean {
  if (silent || state.level < maxDepth) return false;
  const token = state.push('paragraph_open', 'p', 1);
  token.map = [start, end];
  const inline = state.push('inline', '', 0);
  inline.map = [start, end];
  inline.content = state.getLines(start, end, state.blkIndent, false).trim();
  inline.children = [];
  state.push('paragraph_close', 'p', -1);
  state.line = end;
  return true;
}

function readMathBlock(state: StateBlock, start: number, end: number, silent: boolean): boolean {
  const at = state.bMarks[start]! + state.tShift[start]!; // safe: the line is within the text
  if (!state.src.startsWith('$$', at) && !state.src.startsWith('\\[', at)) return false;
  const lineAt = (line: number): string | undefined =>
    line >= end || (state.sCount[line]! < state.blkIndent && !state.isEmpty(line)) // safe: it is before the end
      ? undefined
      : state.getLines(line, line + 1, state.blkIndent, false);
  const formula = mathStart.test(lineAt(start) ?? '') ? readMath(lineAt, start) : undefined;
  if (!formula || silent) return formula !== undefined;
  const token = state.push('math_block', '', 0);
  token.map = [start, formula.next];
  token.content = formula.text;
  state.line = formula.next;
  return true;
}

function readMathInline(state: StateInline, silent: boolean): boolean {
  if (!/^(?:\$|\\[([])/.test(state.src.slice(state.pos, state.pos + 2))) return false;
  const formula = readInlineMath(state.src, state.pos);
  if (!formula || state.pos + formula.length > state.posMax) return false;
  if (!silent) {
    const token = state.push('math', '', 0);
    token.content = formula.text;
    token.info = formula.isBlock ? 'block' : '';
  }
  state.pos += formula.length;
  return true;
}

/** How a block of a formula starts. */
const mathStart = /^ {0,3}(\$\$|\\\[)/;

/** The longest formula within a line, in UTF-16 code units: what is not closed within is text. */
const longest = 600;

/** The longest formula of a block, in lines: else every line that opens one would be read to the end of the text. */
const mostLines = 100;

/** Reads the block that starts on this line. One that a blank line interrupts, that is too long or not closed yet, is none. */
function readMath(
  lineAt: (line: number) => string | undefined,
  first: number,
): { readonly text: string; readonly next: number } | undefined {
  const [start = '', mark] = mathStart.exec(lineAt(first) ?? '') ?? [];
  const end = mark === '$$' ? '$$' : '\\]';
  const inner: string[] = [];
  for (let i = first; i < first + mostLines; i++) {
    const line = i === first ? lineAt(i)?.slice(start.length) : lineAt(i);
    if (line === undefined || (i > first && line.trim() === '')) return undefined;
    const at = line.indexOf(end);
    inner.push(at === -1 ? line : line.slice(0, at));
    if (at === -1) continue;
    return line.slice(at + end.length).trim() === '' ? { text: inner.join('\n').trim(), next: i + 1 } : undefined;
  }
  return undefined;
}

/** Reads a formula within a line. Amounts of money are none: `$` closes behind no space, and before no digit. */
function readInlineMath(
  text: string,
  at: number,
): { readonly text: string; readonly isBlock: boolean; readonly length: number } | undefined {
  const mark = text.startsWith('$$', at)
    ? '$$'
    : text.startsWith('\\(', at)
    ? '\\('
    : text.startsWith('\\[', at)
    ? '\\['
    : '$';
  const end = mark === '\\(' ? '\\)' : mark === '\\[' ? '\\]' : mark;
  const rest = text.slice(at + mark.length, at + mark.length + longest);
  if (mark === '$' && !/^[^\s$]/.test(rest)) return undefined;
  const found = mark === '$' ? rest.search(/(?<=[^\s\\])\$(?!\d)/) : rest.indexOf(end);
  const inner = rest.slice(0, Math.max(0, found)).trim();
  if (inner === '' || (mark === '$' && inner.includes('\n\n'))) return undefined;
  return { text: inner, isBlock: mark === '$$' || mark === '\\[', length: mark.length + found + end.length };
}

const citationHere = new RegExp(citation, 'y');

/** Not within a link, which would hold a button, and not where the text says what the number means (`[1]: https://…`). */
function readCitation(state: StateInline, silent: boolean): boolean {
  if (silent || state.src.charAt(state.pos) !== '[' || state.linkLevel > 0) return false; // silent: it looks for the end of a link
  citationHere.lastIndex = state.pos;
  const [text, numbers] = citationHere.exec(state.src) ?? [];
  if (text === undefined || numbers === undefined || state.env.references?.[numbers] !== undefined) return false;
  const token = state.push('citation', '', 0);
  token.content = text;
  token.info = numbers;
  state.pos += text.length;
  return true;
}

/** The lines, with lists within the items of a numbered list indented as far as CommonMark wants it. */
function widened(lines: readonly string[]): readonly string[] {
  let [content, from, shift, fence] = [0, 0, 0, ''];
  return lines.map((line) => {
    const [, indent = '', rest = ''] = /^( *)(.*)$/s.exec(line) ?? [];
    if (rest === '') return line;
    const mark = /^(?:`{3,}|~{3,})/.exec(rest)?.[0] ?? '';
    if (fence !== '' ? mark.startsWith(fence) : mark !== '') fence = fence === '' ? mark : '';
    else if (fence === '') {
      const [numbered] = indent === '' ? /^\d{1,9}[.)] {1,4}(?=\S)/.exec(rest) ?? [] : [];
      if (numbered !== undefined || (indent === '' && shift === 0)) content = numbered?.length ?? 0;
      if (indent.length < from) [shift, from] = [0, 0];
      if (shift === 0 && indent.length >= 2 && indent.length < content && /^[-*+] /.test(rest)) {
        [shift, from] = [content - indent.length, indent.length];
      }
    }
    return shift > 0 && indent.length >= from ? ' '.repeat(shift) + line : line;
  });
}
