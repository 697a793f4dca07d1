/** JSON in what a model says. */

/** A block of code, whose fence may still be open. */
const fenced = /```[ \t]*(?:[a-z0-9+-]*[ \t]*\n|json[5c]?\b)?([\s\S]*?)(?:```|$)/gi;

/**
 * Returns the texts that may be the JSON of an answer, the most likely first: all of it, what follows its thoughts, its blocks of code
 * from the last on, and what is between its outermost braces or brackets.
 */
export function jsonCandidates(text: string): readonly string[] {
  const said = withoutThoughts(text);
  const blocks = [...said.matchAll(fenced)].map(([, block = '']) => block.trim());
  const [open = '{', close = '}'] = said.search(/[{[]/) === said.indexOf('[') ? '[]' : '{}';
  const [inner = '{', end = '}'] = open === '{' ? '[]' : '{}';
  const found = [said, ...blocks.toReversed(), outermost(said, open, close), outermost(said, inner, end)];
  return [...new Set([text.trim(), ...found.filter((candidate) => candidate !== '')])];
}

function outermost(text: string, open: string, close: string): string {
  const start = text.indexOf(open);
  return start < 0 ? '' : text.slice(start, text.lastIndexOf(close) + 1);
}

/** Reasoning models on servers without a field for it write their thoughts first; some servers remove the opening tag. */
function withoutThoughts(text: string): string {
  const ends = [...text.matchAll(/<\/(?:think|thinking|thought|reasoning)>/gi)];
  const last = ends.at(-1);
  if (last) return text.slice(last.index + last[0].length).trim();
  return text.replace(/^\s*<(?:think|thinking|thought|reasoning)>[\s\S]*$/i, '').trim();
}

/** The JSON that a text has begun with: without thoughts, words and an opening fence before it, which may all be still open. */
function startedJson(text: string): string {
  const said = /^\s*[{["]/.test(text) ? text.trim() : withoutThoughts(text);
  if (/^["{[\d-]|^(?:t|f|n)[a-z]*$/.test(said)) return said;
  const [block] = [...said.matchAll(fenced)].map(([, inside = '']) => inside.trim());
  if (block !== undefined) return block;
  const start = said.search(/[{[]/);
  return start < 0 ? '' : said.slice(start);
}

/**
 * Returns the value of JSON text that is cut off: with what is complete of it, and with the last text as far as it goes. `undefined`
 * where nothing can be read yet.
 */
export function parsePartialJson(text: string): unknown {
  const json = startedJson(text);
  const { whole, boundary } = closings(json);
  const value = tryParse(whole);
  return value === undefined ? tryParse(boundary) : value;
}

/** The text closed at its end, and closed at the last place behind which nothing is open but arrays and objects. */
function closings(json: string): { readonly whole: string; readonly boundary: string } {
  const open: string[] = [];
  let boundary = '';
  let isText = false;
  for (let at = 0; at < json.length; at++) {
    const char = json.charAt(at);
    if (isText) {
      if (char === '\\') at++;
      else if (char === '"') isText = false;
      continue;
    }
    if (char === '"') isText = true;
    else if (char === '{' || char === '[') open.push(char === '{' ? '}' : ']');
    else if (char === '}' || char === ']') open.pop();
    else if (char !== ',') continue;
    if (!isText) boundary = json.slice(0, char === ',' ? at : at + 1) + open.toReversed().join('');
  }
  const end = isText ? `${json.replace(/\\(?:u[\da-f]{0,3})?$/i, '')}"` : json;
  return { whole: end + open.toReversed().join(''), boundary };
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
