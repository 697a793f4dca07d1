/** Every text that a secret turns into on its way through JSON, HTML, URLs, forms, hex and base64. */

/** Returns the distinct forms of a secret, itself first. */
export function patternsOf(secret: string): readonly string[] {
  const plain = [...new Set([secret, secret.trim()])].filter((text) => text.length >= 8).flatMap(longerCases);
  return [...new Set(plain.flatMap((text) => [text, ...jsonForms(text), ...writtenForms(text)]))];
}

/** A text, and its upper and lower case where that has other letters: `ß` becomes `SS`. */
function longerCases(text: string): string[] {
  const folded = foldCase(text);
  return [text, ...[text.toUpperCase(), text.toLowerCase()].filter((other) => foldCase(other) !== folded)];
}

/** Text in HTML or a URL may be inside JSON too. */
function writtenForms(text: string): string[] {
  const forms = [...htmlForms(text), ...byteForms(text)];
  return [...forms, ...forms.map(inJson), ...forms.map((form) => inJson(inJson(form)))];
}

function byteForms(text: string): string[] {
  const bytes = new TextEncoder().encode(text);
  return [...percentForms(bytes), ...hexForms(bytes), ...base64Forms(bytes)];
}

/** What JSON writers of several languages make of a text, and then of that text once more, and again: a tool's input is JSON by itself. */
function jsonForms(text: string): string[] {
  const once = inJson(text);
  const slashed = [once, once.replaceAll('/', '\\/')];
  const escaped = slashed.flatMap((form) => [form, ...unicodeEscaped(form)]);
  return escaped.flatMap((form) => [form, inJson(form), inJson(inJson(form))]);
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** `\u003c` for what is special in HTML, for all that is not ASCII, or for both; with `"` as well, as .NET does it. */
function unicodeEscaped(json: string): string[] {
  const sets = [/[<>&]/g, /[<>&'\u2028\u2029]/g, /[^\0-\x7f]/g, /[<>&']|[^\0-\x7f]/g, /\\"|[<>&'+`]|[^\0-\x7f]/g];
  return sets.flatMap((set) => {
    const lower = json.replaceAll(
      set,
      (unit) => `\\u${unit.charCodeAt(unit.length - 1).toString(16).padStart(4, '0')}`,
    );
    return [lower, lower.replaceAll(/\\u[0-9a-f]{4}/g, (escape) => `\\u${escape.slice(2).toUpperCase()}`)];
  });
}

/** Writers of HTML differ on quotes; a JSON text may be inside an attribute. */
function htmlForms(text: string): string[] {
  const quotes = [
    ['&quot;', '&#39;'],
    ['&quot;', '&#x27;'],
    ['&#34;', '&#39;'],
    ['&quot;', '&apos;'],
    ['&quot;', "'"],
    ['"', "'"],
  ];
  return [text, inJson(text)].flatMap((form) =>
    quotes.map(([double = '', single = '']) =>
      form.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
        .replaceAll('"', double).replaceAll("'", single)
    )
  );
}

/** The bytes that writers of URLs leave as they are: components, strictly, whole URLs, queries, paths (older and newer), none. */
const unescaped = [
  /[A-Za-z0-9\-_.!~*'()]/,
  /[A-Za-z0-9\-_.~]/,
  /[A-Za-z0-9\-_.!~*'();,/?:@&=+$#]/,
  /[!$%&()*+,\-./0-9:;=?@A-Z[\\\]^_`a-z{|}~]/,
  /[!$%&'()*+,\-./0-9:;=@A-Z[\\\]^_a-z|~]/,
  /[!$%&'()*+,\-./0-9:;=@A-Z[\\\]_a-z|~]/,
  /[^\s\S]/,
];

function percentForms(bytes: Uint8Array): string[] {
  const inForm = percent(bytes, /[A-Za-z0-9\-_.* ]/).replaceAll(' ', '+');
  const inUrl = unescaped.map((kept) => percent(bytes, kept));
  const once = [inForm, ...inUrl, ...inUrl.map((form) => form.replaceAll('\\', '/'))]; // in a URL, `\` is `/`
  return once.flatMap((form) => [form, upperEscapes(form)]).flatMap((form) => [form, form.replaceAll('%', '%25')]);
}

function percent(bytes: Uint8Array, unescapedSet: RegExp): string {
  return Array.from(bytes, (byte) => {
    const unit = String.fromCharCode(byte);
    return byte < 128 && unescapedSet.test(unit) ? unit : `%${toHex(byte)}`;
  }).join('');
}

function upperEscapes(text: string): string {
  return text.replaceAll(/%[0-9a-f]{2}/g, (escape) => escape.toUpperCase());
}

function hexForms(bytes: Uint8Array): string[] {
  const lower = Array.from(bytes, toHex).join('');
  return [lower, lower.toUpperCase()];
}

function toHex(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}

/** A secret inside base64 starts at one of three offsets; characters that it shares with its neighbors are left out. */
function base64Forms(bytes: Uint8Array): string[] {
  const forms = [0, 1, 2].flatMap((shift) => {
    const padded = new Uint8Array(shift + bytes.length);
    padded.set(bytes, shift);
    const whole = toBase64(padded);
    const begin = [0, 2, 3][shift] ?? 0;
    const ownEnd = Math.floor((padded.length * 8) / 6);
    const end = whole.slice(begin);
    return [whole.slice(begin, ownEnd), end.replaceAll('=', ''), end]; // followed by others, or the last of all
  });
  return forms.flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]);
}

function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

/** Format characters (soft hyphen, zero-width, bidirectional, tags) and all else that is drawn as nothing, variation selectors too. */
const invisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}]+/gu;
const ascii = /^[\0-\x7f]*$/;
/** Everything outside of ASCII that has another case. */
const cased = /[^\P{Changes_When_Casemapped}\0-\x7f]/gu;

/** Returns the text in one letter case, with every code unit at its index. */
export function foldCase(text: string): string {
  if (ascii.test(text)) return text.toLowerCase();
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase()).replaceAll(cased, foldCharacter);
}

/** By way of the upper case: `ς` and `σ` are both `Σ`. A case of another length would move what follows. */
function foldCharacter(character: string): string {
  const upper = character.toUpperCase();
  const base = upper.length === character.length ? upper : character;
  const lower = base.toLowerCase();
  return lower.length === character.length ? lower : character;
}

/** Invisible characters that stood before the code unit at an index of the visible text. */
export interface Invisible {
  readonly at: number;
  readonly text: string;
}

/** A text without its invisible characters, and these. */
interface Visible {
  readonly text: string;
  readonly hidden: readonly Invisible[];
}

/** Separates the invisible characters of a text from the others. */
export function separateInvisible(text: string): Visible {
  if (ascii.test(text)) return { text, hidden: [] };
  const hidden: Invisible[] = [];
  let removed = 0;
  const visible = text.replaceAll(invisible, (run, index: number) => {
    hidden.push({ at: index - removed, text: run });
    removed += run.length;
    return '';
  });
  return { text: visible, hidden };
}
