/** The requests at a tree that a message can name. */

/** A requested change, with the names that the message uses. */
export type TreeRequest =
  | { readonly kind: 'add'; readonly name: string; readonly type: string; readonly place: string }
  | { readonly kind: 'rename'; readonly name: string; readonly newName: string }
  | { readonly kind: 'move'; readonly name: string; readonly place: string }
  | { readonly kind: 'remove'; readonly name: string }
  | { readonly kind: 'done'; readonly name: string }
  | { readonly kind: 'find'; readonly name: string }
  | { readonly kind: 'open'; readonly overdue: boolean }
  | { readonly kind: 'undo' };

const name = '(?:"([^"]+)"|“([^”]+)”|(.+?))';
const below = '(?:to|under|below|in|into|inside)';
const kind = '(?:the\\s+)?(?:task|area|job|node)?';
const please = '^\\s*(?:please\\s+|can you\\s+|could you\\s+)?';
const end = '\\s*[.!?]?\\s*$';

const patterns: readonly (readonly [RegExp, (parts: readonly string[], found: RegExpExecArray) => TreeRequest])[] = [
  [pattern(`(?:undo|take (?:it|that|this) back)\\b.*`), () => ({ kind: 'undo' })],
  [
    pattern(
      `(?:what(?:['’]?s|\\s+is|\\s+are)?|which|list|show(?:\\s+me)?)\\b.{0,40}\\b(?<late>overdue|late)\\b.{0,20}|` +
        `(?:what(?:['’]?s|\\s+is|\\s+are)?|which|list|show(?:\\s+me)?)\\b.{0,40}\\b(?:open|left|undone|unfinished|pending|to\\s+do|todo)\\b.{0,20}|` +
        `what\\s+should\\s+(?:i|we)\\s+do\\b.{0,20}|what(?:['’]?s|\\s+is)\\s+next`,
    ),
    (_, found) => ({ kind: 'open', overdue: found.groups?.['late'] !== undefined }),
  ],
  [
    pattern(
      `(?:add|plant|create)\\s+(?:an?\\s+)?(?:new\\s+)?(?<type>task|area|job)?:?\\s*${name}\\s+${below}\\s+(?:the\\s+)?${name}`,
    ),
    ([first = '', place = ''], found) => ({ kind: 'add', name: first, type: found.groups?.['type'] ?? 'task', place }),
  ],
  [
    pattern(`rename\\s+${kind}\\s*${name}\\s+(?:to|as|into)\\s+${name}`),
    ([first = '', newName = '']) => ({ kind: 'rename', name: first, newName }),
  ],
  [
    pattern(`move\\s+${kind}\\s*${name}\\s+${below}\\s+(?:the\\s+)?${name}`),
    ([first = '', place = '']) => ({ kind: 'move', name: first, place }),
  ],
  [pattern(`(?:remove|delete)\\s+${kind}\\s*${name}`), ([first = '']) => ({ kind: 'remove', name: first })],
  [
    pattern(`(?:mark|tick off|check off|finish|complete)\\s+${kind}\\s*${name}(?:\\s+(?:as\\s+)?(?:done|finished))?`),
    ([first = '']) => ({ kind: 'done', name: first }),
  ],
  [
    pattern(`(?:find|search(?:\\s+for)?|look\\s+for|where\\s+is|where\\s+are)\\s+(?:the\\s+)?${name}`),
    ([first = '']) => ({ kind: 'find', name: first }),
  ],
];

function pattern(words: string): RegExp {
  return new RegExp(`${please}${words}${end}`, 'iu');
}

/** The longest message that is a request. */
const maxLength = 500;

/** Returns the request that the message names, if it names one. */
export function requestIn(message: string): TreeRequest | undefined {
  if (message.length > maxLength) return undefined;
  for (const [words, toRequest] of patterns) {
    const found = words.exec(message);
    if (found) return toRequest(namesIn(found), found);
  }
  return undefined;
}

/** Each name is one of three groups: in straight quotes, in curved ones, or plain. */
function namesIn(found: RegExpExecArray): readonly string[] {
  const plain = found.slice(found.groups ? 2 : 1); // a named group precedes the names
  const names: string[] = [];
  for (let i = 0; i < plain.length; i += 3) {
    const text = plain.slice(i, i + 3).find((group) => group !== undefined);
    if (text !== undefined) names.push(text.trim());
  }
  return names;
}
