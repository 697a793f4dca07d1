/** Finds the targets of links, and lets through only those that are safe to follow. */

/** The longest target that is read. */
const maxLength = 2000;

/** How many parentheses an address may hold open. */
const maxDepth = 8;

/** A target and where the text goes on after it. */
interface Target {
  readonly href: string;
  readonly end: number;
}

/** The address to follow, or nothing: only `http`, `https` and `mailto` are. */
export function safeHref(text: string): string | undefined {
  const url = URL.parse(text);
  return url && (url.protocol === 'https:' || url.protocol === 'http:' || url.protocol === 'mailto:')
    ? url.href
    : undefined;
}

/** Reads `(target "title")` at this place. */
export function readTarget(text: string, at: number): Target | undefined {
  if (text.charAt(at) !== '(') return undefined;
  let depth = 1;
  const limit = Math.min(text.length, at + maxLength);
  for (let i = at + 1; i < limit; i++) {
    const character = text.charAt(i);
    if (character === '\\') i++;
    else if (character === '\n') return undefined;
    else if (character === '(' && ++depth > maxDepth) return undefined;
    else if (character === ')' && --depth === 0) return { href: withoutTitle(text.slice(at + 1, i)), end: i + 1 };
  }
  return undefined;
}

/** Reads `<https://…>` at this place. */
export function readAutolink(text: string, at: number): (Target & { readonly text: string }) | undefined {
  const pattern = /<((?:https?:\/\/|mailto:)[^\s<>]{1,2000})>/y;
  pattern.lastIndex = at;
  const href = pattern.exec(text)?.[1];
  return href === undefined ? undefined : { href, text: href, end: pattern.lastIndex };
}

/** Reads `https://…` at this place, without the punctuation of the sentence around it. */
export function readBareUrl(text: string, at: number): (Target & { readonly text: string }) | undefined {
  const pattern = /https?:\/\/[^\s<>"`*|\\^{}]{1,2000}/iy;
  pattern.lastIndex = at;
  const found = pattern.exec(text)?.[0];
  if (found === undefined) return undefined;
  const href = withoutPunctuation(found);
  return { href, text: href, end: at + href.length };
}

function withoutTitle(target: string): string {
  const [first = ''] = target.trim().split(/\s/, 1);
  return first.startsWith('<') && first.endsWith('>') ? first.slice(1, -1) : first;
}

function withoutPunctuation(url: string): string {
  let end = url.length;
  while (end > 0 && isPunctuation(url, end)) end--;
  return url.slice(0, end);
}

/** A closing parenthesis belongs to the address when it has an opening one. */
function isPunctuation(url: string, end: number): boolean {
  const last = url.charAt(end - 1);
  if (last === ')') return !url.slice(0, end).includes('(');
  return '.,;:!?\'"_~]'.includes(last);
}
