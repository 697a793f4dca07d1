/**
 * Where symbols are defined, line by line, as ctags finds them. Parsers of languages are programs of their own (most of them
 * WebAssembly), so a definition that spans lines, or is inside a string, is not recognized as such.
 */

/** How one kind of symbol is written; the first group is its name. */
export interface SymbolRule {
  /** As the Language Server Protocol names kinds. */
  readonly kind: string;
  readonly pattern: RegExp;
}

/** A definition. Lines count from 1, both ends included; columns in UTF-16 code units from 0. */
export interface CodeSymbol {
  readonly name: string;
  readonly kind: string;
  /** The symbol that contains it. */
  readonly container?: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
}

/** A line longer than this is no one's handwriting. */
const longestLine = 400;
/** A definition goes on for at most so many lines. */
const longestBody = 400;

/** Returns the definitions in the lines of a file. */
export function symbolsOf(lines: readonly string[], rules: readonly SymbolRule[]): CodeSymbol[] {
  if (rules.length === 0) return [];
  const symbols: CodeSymbol[] = [];
  const open: { readonly symbol: CodeSymbol; readonly indent: number }[] = [];
  for (const [at, line] of lines.entries()) {
    if (line.length > longestLine || line.trim() === '') continue;
    const found = firstMatch(line, rules);
    if (!found) continue;
    const indent = indentOf(line);
    while (open.length > 0 && (open.at(-1)!.indent >= indent || open.at(-1)!.symbol.endLine <= at)) open.pop();
    const container = open.at(-1)?.symbol.name;
    const symbol = {
      ...found,
      ...(container !== undefined && { container }),
      line: at + 1,
      endLine: endOf(lines, at, indent),
    };
    symbols.push(symbol);
    open.push({ symbol, indent });
  }
  return symbols;
}

function firstMatch(line: string, rules: readonly SymbolRule[]) {
  for (const { kind, pattern } of rules) {
    const name = pattern.exec(line)?.[1];
    if (name !== undefined) return { name, kind, column: line.indexOf(name) };
  }
  return undefined;
}

/** The last line that is indented more than the first, with a closing line if there is one. */
function endOf(lines: readonly string[], start: number, indent: number): number {
  let end = start;
  for (let at = start + 1; at < Math.min(lines.length, start + longestBody); at++) {
    const line = lines[at]!;
    if (line.trim() === '') continue;
    if (indentOf(line) > indent) end = at;
    else {
      if (indentOf(line) === indent && /^\s*[}\])]|^\s*end\b/.test(line)) end = at;
      break;
    }
  }
  return end + 1;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
