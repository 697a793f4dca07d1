/**
 * Languages by the endings of file names, and where symbols are defined, line by line, as ctags finds them. Parsers of languages are
 * programs of their own (most of them WebAssembly), so a definition that spans lines, or is inside a string, is not recognized as such.
 */

/** How one kind of symbol is written; the first group is its name. */
interface SymbolRule {
  /** As the Language Server Protocol names kinds. */
  readonly kind: string;
  readonly pattern: RegExp;
}

/** A definition. Lines count from 1, both ends included; columns in UTF-16 code units from 0. */
export interface CodeSymbol {
  readonly name: string;
  readonly kind: string;
  readonly container?: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
}

/** A line longer than this is no one's handwriting. */
const longestLine = 400;
/** A definition goes on for at most so many lines. */
const longestBody = 400;

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

const name = String.raw`([\p{L}_$][\p{L}\p{N}_$]*)`;
const rule = (kind: string, before: string, after = ''): SymbolRule => ({
  kind,
  pattern: new RegExp(`^[ \\t]*${before}${name}${after}`, 'u'),
});

const modifiers = String.raw`(?:export\s+)?(?:default\s+)?(?:declare\s+)?`;
const access = String
  .raw`(?:(?:public|private|protected|internal|static|final|abstract|sealed|override|virtual|async|partial|open|data|suspend|inline)\s+)*`;

const script: readonly SymbolRule[] = [
  rule('Class', `${modifiers}(?:abstract\\s+)?class\\s+`),
  rule('Interface', `${modifiers}interface\\s+`),
  rule('Enum', `${modifiers}(?:const\\s+)?enum\\s+`),
  rule('Function', `${modifiers}(?:async\\s+)?function\\s*\\*?\\s*`),
  rule('TypeParameter', `${modifiers}type\\s+`, String.raw`\s*(?:<[^=]{0,200}>)?\s*=`),
  rule('Variable', String.raw`(?:export\s+)(?:declare\s+)?(?:const|let|var)\s+`),
  rule(
    'Function',
    String.raw`(?:const|let|var)\s+`,
    String.raw`\s*=\s*(?:async\s*)?(?:\(|function\b|[\p{L}_$][\p{L}\p{N}_$]*\s*=>)`,
  ),
  rule(
    'Method',
    String
      .raw`(?:(?:public|private|protected|static|async|override|get|set)\s+)*#?(?!(?:if|for|while|switch|catch|return|function|await|new|typeof|else|do|constructor|super)\b)`,
    String.raw`\s*(?:<[^(]{0,100}>)?\([^;]{0,300}\{\s*$`,
  ),
];
const python: readonly SymbolRule[] = [
  rule('Class', String.raw`class\s+`),
  rule('Function', String.raw`(?:async\s+)?def\s+`),
];
const go: readonly SymbolRule[] = [
  rule('Function', String.raw`func\s+(?:\([^)]{0,100}\)\s*)?`, String.raw`\s*[\[(]`),
  rule('Struct', String.raw`type\s+`, String.raw`\s+struct\b`),
  rule('Interface', String.raw`type\s+`, String.raw`\s+interface\b`),
];
const rust: readonly SymbolRule[] = [
  rule('Function', String.raw`(?:pub(?:\([^)]{0,40}\))?\s+)?(?:(?:const|async|unsafe)\s+)*fn\s+`),
  rule('Struct', String.raw`(?:pub(?:\([^)]{0,40}\))?\s+)?struct\s+`),
  rule('Enum', String.raw`(?:pub(?:\([^)]{0,40}\))?\s+)?enum\s+`),
  rule('Interface', String.raw`(?:pub(?:\([^)]{0,40}\))?\s+)?trait\s+`),
];
const jvm: readonly SymbolRule[] = [
  rule('Class', `${access}(?:class|record|object)\\s+`),
  rule('Interface', `${access}interface\\s+`),
  rule('Enum', `${access}enum\\s+(?:class\\s+)?`),
  rule('Function', `${access}fun\\s+(?:<[^>]{0,100}>\\s*)?`),
  rule(
    'Method',
    String
      .raw`(?:(?:public|private|protected|internal|static|final|abstract|override|virtual|async)\s+)+[\w<>\[\], ?.]{1,80}\s+`,
    String.raw`\s*\(`,
  ),
];
const c: readonly SymbolRule[] = [
  rule('Struct', String.raw`(?:typedef\s+)?struct\s+`, String.raw`\s*\{`),
  rule('Class', String.raw`class\s+`),
  rule('Enum', String.raw`(?:typedef\s+)?enum\s+(?:class\s+)?`, String.raw`\s*\{`),
  rule(
    'Function',
    String.raw`(?!(?:return|else|if|for|while|switch|case|throw|delete|new)\b)(?:[\w:*&<>]+\s+){1,4}[*&]*(?:\w+::)?`,
    String.raw`\s*\([^;]{0,300}\{?\s*$`,
  ),
];
const shell: readonly SymbolRule[] = [rule('Function', String.raw`(?:function\s+)?`, String.raw`\s*\(\)\s*\{`)];
const ruby: readonly SymbolRule[] = [
  rule('Class', String.raw`class\s+`),
  rule('Module', String.raw`module\s+`),
  rule('Function', String.raw`def\s+(?:self\.)?`),
];

interface Language {
  readonly name: string;
  readonly symbols: readonly SymbolRule[];
}

const languages: readonly (readonly [name: string, endings: string, symbols: readonly SymbolRule[]])[] = [
  ['typescript', 'ts tsx mts cts', script],
  ['javascript', 'js jsx mjs cjs', script],
  ['python', 'py pyi', python],
  ['go', 'go', go],
  ['rust', 'rs', rust],
  ['java', 'java', jvm],
  ['kotlin', 'kt kts', jvm],
  ['csharp', 'cs', jvm],
  ['c', 'c h', c],
  ['cpp', 'cc cpp cxx hpp hh', c],
  ['ruby', 'rb', ruby],
  ['shell', 'sh bash', shell],
  ['markdown', 'md markdown', []],
  ['json', 'json', []],
  ['yaml', 'yml yaml', []],
  ['html', 'html htm', []],
  ['css', 'css scss', []],
  ['sql', 'sql', []],
  ['text', 'txt', []],
];

const byEnding = new Map(
  languages.flatMap(([language, endings, symbols]) =>
    endings.split(' ').map((ending) => [ending, { name: language, symbols }] as const)
  ),
);

export function languageOf(path: string): Language {
  const ending = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
  return byEnding.get(ending) ?? { name: 'unknown', symbols: [] };
}
