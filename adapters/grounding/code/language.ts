/** Languages by the endings of file names, and how their symbols are written. */

import type { SymbolRule } from './symbols.ts';

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

/** A language that is known by its files. */
export interface Language {
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

/** Returns the language of a path; `unknown`, without symbols, for other files. */
export function languageOf(path: string): Language {
  const ending = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
  return byEnding.get(ending) ?? { name: 'unknown', symbols: [] };
}
