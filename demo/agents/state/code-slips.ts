/** Finds unclosed brackets, strings and comments. Without `eval`, engines report no position. */

/** Something unclosed, or a closing mark without its opening one. */
export interface Slip {
  /** Both from 1. */
  readonly line: number;
  readonly column: number;
  readonly text: string;
}

interface Open {
  readonly mark: string;
  readonly at: number;
}

const closers: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };
/** After these a slash starts a regular expression; after anything else it divides. */
const beforePattern =
  /(?:^|[([{,;:=!?&|+\-*%<>~^}]|=>|\b(?:return|typeof|case|in|of|throw|new|delete|void|await|yield))$/;

/** Returns the first slip of a function's body; `undefined`: there is none of these. */
export function findSlip(code: string): Slip | undefined {
  const open: Open[] = [];
  let at = 0;
  while (at < code.length) {
    const mark = code[at] ?? '';
    const inTemplate = open.at(-1)?.mark === '`';
    const next = inTemplate ? stepInTemplate(code, at, open) : step(code, at, { mark, open });
    if (typeof next === 'string') return slipAt(code, at, next);
    at = next;
  }
  const last = open.at(-1);
  return last &&
    slipAt(code, last.at, last.mark === '`' ? 'This text is not closed' : `“${last.mark}” is never closed`);
}

/** Where to go on, or what is wrong here. */
type Step = number | string;

function step(code: string, at: number, { mark, open }: { readonly mark: string; readonly open: Open[] }): Step {
  if (mark === '"' || mark === "'") {
    return endOf(code, at, /(?:[^\\\n]|\\[\s\S])*?/y, mark) ?? 'This text is not closed';
  }
  if (mark === '/' && code[at + 1] === '/') return lineEnd(code, at);
  if (mark === '/' && code[at + 1] === '*') {
    const end = code.indexOf('*/', at + 2);
    return end < 0 ? 'This comment is not closed' : end + 2;
  }
  if (mark === '/' && beforePattern.test(code.slice(Math.max(0, at - 80), at).trimEnd())) {
    return endOf(code, at, /(?:[^\\\n[]|\\.|\[(?:[^\\\n\]]|\\.)*\])*?/y, '/') ??
      'This regular expression is not closed';
  }
  if ('([{`'.includes(mark)) open.push({ mark, at });
  const opener = closers[mark];
  if (opener === undefined) return at + 1;
  const last = open.pop();
  if (!last) return `“${mark}” closes nothing`;
  return last.mark === opener || (mark === '}' && last.mark === '${')
    ? at + 1
    : `“${mark}” cannot close “${last.mark}” of line ${lineOf(code, last.at)}`;
}

function stepInTemplate(code: string, at: number, open: Open[]): Step {
  if (code[at] === '\\') return at + 2;
  if (code.startsWith('${', at)) {
    open.push({ mark: '${', at });
    return at + 2;
  }
  if (code[at] === '`') open.pop();
  return at + 1;
}

/** The place after the same mark. */
function endOf(code: string, at: number, inside: RegExp, mark: string): number | undefined {
  const whole = new RegExp(`${inside.source}${mark}`, 'y');
  whole.lastIndex = at + 1;
  return whole.test(code) ? whole.lastIndex : undefined;
}

function lineEnd(code: string, at: number): number {
  const end = code.indexOf('\n', at);
  return end < 0 ? code.length : end;
}

function lineOf(code: string, at: number): number {
  return code.slice(0, at).split('\n').length;
}

function slipAt(code: string, at: number, text: string): Slip {
  return { line: lineOf(code, at), column: at - code.lastIndexOf('\n', at - 1), text };
}
