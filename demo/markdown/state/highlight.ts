/** Colors code: tells texts with their kinds, never HTML. Each language is fetched on its first use. */

import { type ShjLanguageData, tokenizeWith } from '@speed-highlight/core/tokenize';

/** A piece of code. The kind names its color. */
export interface Token {
  readonly text: string;
  readonly kind?: string | undefined;
}

/** The types of the languages are not exact about what is absent. */
type Load = () => Promise<{ readonly default: unknown }>;

const loaders: Readonly<Record<string, Load>> = {
  asm: () => import('@speed-highlight/core/languages/asm.js'),
  bash: () => import('@speed-highlight/core/languages/bash.js'),
  c: () => import('@speed-highlight/core/languages/c.js'),
  css: () => import('@speed-highlight/core/languages/css.js'),
  csv: () => import('@speed-highlight/core/languages/csv.js'),
  diff: () => import('@speed-highlight/core/languages/diff.js'),
  docker: () => import('@speed-highlight/core/languages/docker.js'),
  go: () => import('@speed-highlight/core/languages/go.js'),
  html: () => import('@speed-highlight/core/languages/html.js'),
  http: () => import('@speed-highlight/core/languages/http.js'),
  ini: () => import('@speed-highlight/core/languages/ini.js'),
  java: () => import('@speed-highlight/core/languages/java.js'),
  js: () => import('@speed-highlight/core/languages/js.js'),
  jsdoc: () => import('@speed-highlight/core/languages/jsdoc.js'),
  json: () => import('@speed-highlight/core/languages/json.js'),
  lua: () => import('@speed-highlight/core/languages/lua.js'),
  make: () => import('@speed-highlight/core/languages/make.js'),
  md: () => import('@speed-highlight/core/languages/md.js'),
  pl: () => import('@speed-highlight/core/languages/pl.js'),
  py: () => import('@speed-highlight/core/languages/py.js'),
  regex: () => import('@speed-highlight/core/languages/regex.js'),
  rs: () => import('@speed-highlight/core/languages/rs.js'),
  sql: () => import('@speed-highlight/core/languages/sql.js'),
  todo: () => import('@speed-highlight/core/languages/todo.js'),
  toml: () => import('@speed-highlight/core/languages/toml.js'),
  ts: () => import('@speed-highlight/core/languages/ts.js'),
  uri: () => import('@speed-highlight/core/languages/uri.js'),
  xml: () => import('@speed-highlight/core/languages/xml.js'),
  yaml: () => import('@speed-highlight/core/languages/yaml.js'),
};

/** Other names of the languages, as models write them. */
const names: Readonly<Record<string, string>> = {
  'c#': 'java',
  'c++': 'c',
  cpp: 'c',
  cs: 'java',
  csharp: 'java',
  dockerfile: 'docker',
  golang: 'go',
  h: 'c',
  javascript: 'js',
  jsonc: 'json',
  jsx: 'js',
  kotlin: 'java',
  makefile: 'make',
  markdown: 'md',
  mjs: 'js',
  patch: 'diff',
  perl: 'pl',
  python: 'py',
  rust: 'rs',
  sh: 'bash',
  shell: 'bash',
  svg: 'xml',
  tsx: 'ts',
  typescript: 'ts',
  yml: 'yaml',
  zsh: 'bash',
};

/** Longer code stays in one color, so that no frame takes long. In UTF-16 code units. */
export const longest = 20_000;

const loaded: Record<string, ShjLanguageData> = {};

/** Returns the pieces of the code, or nothing for an unknown language and for long code. */
export async function highlight(code: string, language: string): Promise<readonly Token[] | undefined> {
  const asked = language.toLowerCase();
  const name = names[asked] ?? asked;
  if (code.length > longest || !Object.hasOwn(loaders, name)) return undefined;
  await load(name);
  for (;;) {
    const { tokens, missing } = tokenize(code, name);
    if (missing.length === 0) return tokens;
    await Promise.all(missing.map(load));
  }
}

async function load(name: string): Promise<void> {
  loaded[name] ??= ((await loaders[name]?.())?.default ?? []) as ShjLanguageData; // as the package says
}

/** Tokenizes in one go, because grammars have state. `missing`: languages within the code that must be loaded first. */
function tokenize(
  code: string,
  name: string,
): { readonly tokens: readonly Token[]; readonly missing: readonly string[] } {
  const missing = new Set<string>();
  const languages = new Proxy(loaded, {
    get(known, wanted: string) {
      if (!Object.hasOwn(known, wanted)) missing.add(wanted);
      return known[wanted];
    },
  });
  const tokens: Token[] = [];
  tokenizeWith(code, name, (text, kind) => void (text !== '' && tokens.push({ text, kind })), { languages });
  return { tokens, missing: [...missing] };
}
