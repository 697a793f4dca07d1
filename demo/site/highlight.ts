/** Syntax colors: comments, strings and keywords, by one regular expression per language. No parser. */

import { type Html, markup } from './html.ts';

const text = /(?<quote>["'`])(?:\\.|(?!\k<quote>)[^\\\n])*\k<quote>/;
const scriptWords =
  /\b(?:as|async|await|break|case|catch|class|const|continue|default|declare|do|else|export|extends|false|finally|for|from|function|if|import|in|instanceof|interface|let|new|null|of|readonly|return|satisfies|static|switch|this|throw|true|try|type|typeof|undefined|unknown|void|while|yield)\b/;

const script = join(/\/\*[^]*?\*\/|(?<![:\w])\/\/[^\n]*/, scriptWords);
const shell = join(/(?<=^|\s)#[^\n]*/, /(?<=^|\n|&& )(?:curl|deno|npm|npx|node|docker|export|git|cd)\b/);
const languages: Readonly<Record<string, RegExp>> = {
  ts: script,
  tsx: script,
  js: script,
  json: join(/\/\/[^\n]*/, /\b(?:true|false|null)\b/),
  sh: shell,
  toml: shell,
};

function join(comment: RegExp, words: RegExp): RegExp {
  return new RegExp(`(?<comment>${comment.source})|(?<text>${text.source})|(?<word>${words.source})`, 'g');
}

/** Returns the code with colors, or unchanged for an unknown language. */
export function highlight(code: string, language: string): Html {
  const pattern = languages[language];
  if (!pattern) return markup`${code}`;
  const parts: (string | Html)[] = [];
  let at = 0;
  for (const found of code.matchAll(pattern)) {
    parts.push(code.slice(at, found.index), markup`<span class="code-${kindOf(found)}">${found[0]}</span>`);
    at = found.index + found[0].length;
  }
  return markup`${[...parts, code.slice(at)]}`;
}

function kindOf({ groups = {} }: RegExpMatchArray): string {
  return Object.keys(groups).find((name) => groups[name] !== undefined) ?? 'text';
}
