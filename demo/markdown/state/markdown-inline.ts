/** Reads inline Markdown into a tree, in one pass and in linear time: what opens and never closes becomes text again. */

import { citation, numbersOf } from '../../chat/state/citations.ts';
import { readAutolink, readBareUrl, readTarget, safeHref } from './markdown-links.ts';
import { readInlineMath } from './markdown-math.ts';
import type { Inline } from './markdown-types.ts';

/** Something that was opened and waits for its other half. */
interface Frame {
  readonly mark: string;
  readonly children: Inline[];
  /** A link holds no links: an outer bracket dies when an inner one becomes a link. */
  dead: boolean;
}

/** How many marks may be open at once; more are text. Keeps the tree shallow and the work linear. */
const maxOpen = 24;

const citationHere = new RegExp(citation, 'y');

/** The address that a link leads to, or nothing: then its text is left. */
type HrefOf = (target: string) => string | undefined;

/** Reads one text, as of a paragraph. Without `hrefOf`, links lead to safe addresses alone. */
export function readInline(text: string, hrefOf: HrefOf = safeHref): readonly Inline[] {
  return new InlineReader(text, hrefOf).read();
}

class InlineReader {
  readonly #text: string;
  readonly #frames: Frame[] = [{ mark: '', children: [], dead: false }];
  readonly #findTicks: TickFinder;
  readonly #hrefOf: HrefOf;
  #at = 0;
  #plain = '';

  constructor(text: string, hrefOf: HrefOf) {
    this.#text = text;
    this.#hrefOf = hrefOf;
    this.#findTicks = createTickFinder(text);
  }

  read(): readonly Inline[] {
    while (this.#at < this.#text.length) this.#step();
    this.#flush();
    while (this.#frames.length > 1) this.#giveUp();
    return this.#top.children;
  }

  get #top(): Frame {
    return this.#frames.at(-1)!; // safe: the outermost frame is never taken off
  }

  #step(): void {
    const special = /[\\`*_~[\]!<&\nhH$]/g;
    special.lastIndex = this.#at;
    const found = special.exec(this.#text);
    const next = found?.index ?? this.#text.length;
    this.#plain += this.#text.slice(this.#at, next);
    this.#at = next;
    if (found && !this.#special(found[0])) this.#take(1);
  }

  /** Returns whether the character here meant something. */
  #special(character: string): boolean {
    switch (character) {
      case '\\':
        return this.#math() || this.#escape();
      case '$':
        return this.#math();
      case '`':
        return this.#code();
      case '*':
      case '_':
      case '~':
        return this.#emphasis(character);
      case '[':
        return this.#citation() || this.#openBracket('[');
      case '!':
        return this.#text.startsWith('![', this.#at) && this.#openBracket('![');
      case ']':
        return this.#closeBracket();
      case '<':
        return this.#link(readAutolink(this.#text, this.#at));
      case '&':
        return this.#entity();
      case '\n':
        return this.#lineBreak();
      default:
        return this.#bareUrl();
    }
  }

  #take(length: number): void {
    this.#plain += this.#text.slice(this.#at, this.#at + length);
    this.#at += length;
  }

  #flush(): void {
    if (this.#plain !== '') this.#top.children.push(this.#plain);
    this.#plain = '';
  }

  #put(node: Inline, length: number): true {
    this.#flush();
    this.#top.children.push(node);
    this.#at += length;
    return true;
  }

  #math(): boolean {
    if (!/^(?:\$|\\[([])/.test(this.#text.slice(this.#at, this.#at + 2))) return false;
    const math = readInlineMath(this.#text, this.#at);
    return math !== undefined && this.#put({ type: 'math', text: math.text, isBlock: math.isBlock }, math.length);
  }

  #escape(): boolean {
    const next = this.#text.charAt(this.#at + 1);
    if (next === '\n') return this.#put({ type: 'break' }, 2);
    if (!/[!-/:-@[-`{-~]/.test(next)) return false;
    this.#plain += next;
    this.#at += 2;
    return true;
  }

  #code(): boolean {
    const length = runLength(this.#text, this.#at);
    const end = this.#findTicks(this.#at + length, length);
    if (end === -1) {
      this.#take(length);
      return true;
    }
    const inner = this.#text.slice(this.#at + length, end).replaceAll('\n', ' ');
    const isPadded = inner.startsWith(' ') && inner.endsWith(' ') && inner.trim() !== '';
    return this.#put({ type: 'code', text: isPadded ? inner.slice(1, -1) : inner }, end + length - this.#at);
  }

  #emphasis(character: string): boolean {
    const length = runLength(this.#text, this.#at);
    if (character === '~' && length !== 2) {
      this.#take(length);
      return true;
    }
    const { opens, closes } = flanks(this.#text, this.#at, length);
    let left = length;
    if (closes) left -= this.#closeRun(character, left);
    if (opens) left -= this.#openRun(character, left);
    this.#take(left);
    return true;
  }

  /** Returns how many marks were used. */
  #closeRun(character: string, length: number): number {
    let used = 0;
    for (let size = this.#closable(character, length); size > 0; size = this.#closable(character, length - used)) {
      this.#closeEmphasis(character.repeat(size));
      this.#at += size;
      used += size;
    }
    return used;
  }

  #openRun(character: string, length: number): number {
    let used = 0;
    while (used < length && this.#frames.length <= maxOpen) {
      const size = length - used >= 2 ? 2 : 1;
      this.#open(character.repeat(size));
      used += size;
    }
    return used;
  }

  /** The size of mark that a run of this length can close; the innermost first. */
  #closable(character: string, left: number): number {
    if (left === 0) return 0;
    const inner = this.#top.mark;
    if (inner.startsWith(character) && inner.length <= left) return inner.length;
    for (const size of left >= 2 ? [2, 1] : [1]) {
      if (this.#frames.some(({ mark }) => mark === character.repeat(size))) return size;
    }
    return 0;
  }

  #open(mark: string): void {
    this.#flush();
    this.#frames.push({ mark, children: [], dead: false });
    this.#at += mark.length;
  }

  #closeEmphasis(mark: string): void {
    this.#flush();
    while (this.#top.mark !== mark) this.#giveUp();
    const { children } = this.#frames.pop()!; // safe: the loop ended on it
    const type = mark.startsWith('~') ? 'del' : mark.length === 2 ? 'strong' : 'em';
    this.#top.children.push({ type, children });
  }

  /** The innermost mark stays open for ever: it is text. */
  #giveUp(): void {
    const { mark, children } = this.#frames.pop()!; // safe: called only inside the outermost frame
    const outer = this.#top.children;
    outer.push(mark);
    for (const child of children) outer.push(child);
  }

  /** Not within brackets, which may become a link: it would hold a button. */
  #citation(): boolean {
    if (this.#frames.some(({ mark }) => mark.endsWith('['))) return false;
    citationHere.lastIndex = this.#at;
    const [text, numbers] = citationHere.exec(this.#text) ?? [];
    if (text === undefined || numbers === undefined) return false;
    return this.#put({ type: 'citation', numbers: numbersOf(numbers), text }, text.length);
  }

  #openBracket(mark: '[' | '!['): boolean {
    if (this.#frames.length > maxOpen) return false;
    this.#open(mark);
    return true;
  }

  #closeBracket(): boolean {
    const at = this.#frames.findLastIndex(({ mark }) => mark.endsWith('['));
    if (at === -1) return false;
    this.#flush();
    while (this.#frames.length - 1 > at) this.#giveUp();
    const target = this.#top.dead ? undefined : readTarget(this.#text, this.#at + 1);
    if (!target) {
      this.#giveUp();
      return false;
    }
    const { children, mark } = this.#frames.pop()!; // safe: `at` is not the outermost
    this.#at = target.end;
    return this.#putLink(children, target.href, mark === '![');
  }

  /** A target that is not safe to follow leaves its text. */
  #putLink(children: readonly Inline[], href: string, isImage = false): true {
    const safe = this.#hrefOf(href);
    if (safe === undefined) { for (const child of children) this.#top.children.push(child); }
    else {
      this.#top.children.push({ type: 'link', href: safe, ...(isImage && { isImage }), children });
      for (const frame of this.#frames) frame.dead ||= frame.mark.endsWith('[');
    }
    return true;
  }

  #link(link: { readonly href: string; readonly text: string; readonly end: number } | undefined): boolean {
    if (!link) return false;
    this.#flush();
    this.#at = link.end;
    return this.#putLink([link.text], link.href);
  }

  #bareUrl(): boolean {
    if (/\w/.test(this.#text.charAt(this.#at - 1)) || this.#frames.some(({ mark }) => mark.endsWith('['))) return false;
    return this.#link(readBareUrl(this.#text, this.#at));
  }

  #entity(): boolean {
    const entity = readEntity(this.#text, this.#at);
    if (!entity) return false;
    this.#plain += entity.character;
    this.#at += entity.length;
    return true;
  }

  #lineBreak(): boolean {
    if (!this.#text.startsWith('  ', this.#at - 2)) return false;
    this.#plain = this.#plain.trimEnd();
    return this.#put({ type: 'break' }, 1);
  }
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };

/** Reads a named character at this place. */
function readEntity(
  text: string,
  at: number,
): { readonly character: string; readonly length: number } | undefined {
  const [all = '', name = ''] = /^&([a-z]{2,4});/.exec(text.slice(at, at + 6)) ?? [];
  const character = Object.hasOwn(entities, name) ? entities[name] : undefined;
  return character === undefined ? undefined : { character, length: all.length };
}

/** How often the character here is repeated. */
function runLength(text: string, at: number): number {
  const character = text.charAt(at);
  let end = at + 1;
  while (text.charAt(end) === character) end++;
  return end - at;
}

/** Finds a run of exactly this many backticks at or after an index; -1 if none. */
type TickFinder = (from: number, length: number) => number;

/** Creates a finder that looks for each length at most once in vain. */
function createTickFinder(text: string): TickFinder {
  const unclosed = new Set<number>();
  return (from, length) => {
    if (unclosed.has(length)) return -1;
    for (let at = text.indexOf('`', from); at !== -1; at = text.indexOf('`', at)) {
      const run = runLength(text, at);
      if (run === length) return at;
      at += run;
    }
    unclosed.add(length);
    return -1;
  };
}

/** Whether a run of marks can open or close, by the characters around it. `_` never does inside a word. */
function flanks(
  text: string,
  at: number,
  length: number,
): { readonly opens: boolean; readonly closes: boolean } {
  const before = text.charAt(at - 1);
  const after = text.charAt(at + length);
  const [spaceBefore, spaceAfter] = [before.trim() === '', after.trim() === ''];
  const inWord = text.charAt(at) === '_';
  return {
    opens: !spaceAfter && !(inWord && isWord(before)),
    closes: !spaceBefore && !(inWord && isWord(after)),
  };
}

function isWord(character: string): boolean {
  return /[\p{L}\p{N}]/u.test(character);
}
