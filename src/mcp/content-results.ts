/** What callers get of a server's answers: bounded, cut to size, and marked as untrusted. */

import { plainBase64 } from '../base/base64.ts';
import { asRecord } from '../base/is-record.ts';
import type {
  McpCompletion,
  McpPrompt,
  McpPromptMessage,
  McpResource,
  McpResourcePart,
} from '../contracts/mcp/content.ts';
import { checkCharacters } from './check-texts.ts';

const maxParts = 20;
const maxMessages = 50;
const maxValues = 100;
const maxResourceText = 262_144;
const maxPromptText = 65_536;
const maxBase64 = 6_000_000;

interface ShapeOptions {
  readonly media: boolean;
  readonly redact: (text: string) => string;
}

/** Cuts texts until a total is used up. */
function createCut(most: number, redact: ShapeOptions['redact']) {
  let left = most;
  let isCut = false;
  return {
    text(given: string): string {
      const whole = redact(given);
      if (whole.length > left) isCut = true;
      const text = whole.slice(0, left).toWellFormed();
      left -= text.length;
      return text;
    },
    get isCut() {
      return isCut;
    },
  };
}

export function toResourceContents(
  uri: string,
  result: Readonly<Record<string, unknown>>,
  { media, redact }: ShapeOptions,
): Pick<McpResource, 'contents' | 'truncated'> {
  const given = partsOf(result['contents']);
  const cut = createCut(maxResourceText, redact);
  const contents = given.slice(0, maxParts).map((part): McpResourcePart => {
    const own = typeof part['uri'] === 'string' && part['uri'].length <= 2048 ? redact(part['uri']) : uri;
    const { text, blob, mimeType } = part;
    const facts = { uri: own, ...(typeof mimeType === 'string' && { mimeType: mimeType.slice(0, 100) }) };
    if (typeof text === 'string') return { ...facts, text: cut.text(text) };
    const { base64 } = plainBase64(blob);
    return media && base64.length <= maxBase64 ? { ...facts, base64 } : { ...facts, omitted: base64.length };
  });
  return { contents, ...((cut.isCut || given.length > maxParts) && { truncated: true as const }) };
}

export function toPromptMessages(
  result: Readonly<Record<string, unknown>>,
  redact: ShapeOptions['redact'],
): Pick<McpPrompt, 'description' | 'messages' | 'truncated'> {
  const { description, messages: given } = result;
  const all = [given].flat().map(asRecord).flatMap(({ role, content }) =>
    partsOf(content).map((part) => ({ role: role === 'assistant' ? role : 'user', part }) as const)
  );
  const cut = createCut(maxPromptText, redact);
  const messages = all.slice(0, maxMessages).map(({ role, part }): McpPromptMessage => ({
    role,
    content: toBlock(part, (text) => cut.text(text)),
  }));
  return {
    ...(typeof description === 'string' && { description: redact(description).slice(0, 2000).toWellFormed() }),
    messages,
    ...((cut.isCut || all.length > maxMessages) && { truncated: true as const }),
  };
}

/** The parts of what may be one part, or its text; a text of another type than text is JSON. */
function partsOf(given: unknown): readonly Readonly<Record<string, unknown>>[] {
  return (given === undefined || given === null ? [] : [given].flat()).map((part: unknown) => {
    const { text = typeof part === 'string' ? part : undefined, ...rest } = asRecord(part);
    if (text === undefined || text === null) return rest;
    return { type: 'text', ...rest, text: typeof text === 'string' ? text : JSON.stringify(text) };
  });
}

function toBlock(
  block: Readonly<Record<string, unknown>>,
  cut: (text: string) => string,
): McpPromptMessage['content'] {
  const { type, text, data } = block;
  if (type === 'text' && typeof text === 'string') return { type, text: cut(text) };
  if (type === 'image' || type === 'audio') return { type, omitted: typeof data === 'string' ? data.length : 0 };
  if (type === 'resource_link') return { type: 'link', omitted: 0, ...uriOf(block, cut) };
  if (type !== 'resource') return { type: 'other', omitted: 0 };
  const resource = asRecord(block['resource']);
  if (typeof resource['text'] === 'string') {
    return { type: 'text', text: cut(resource['text']), ...uriOf(resource, cut) };
  }
  const { blob } = resource;
  return { type, omitted: typeof blob === 'string' ? blob.length : 0, ...uriOf(resource, cut) };
}

function uriOf({ uri }: Readonly<Record<string, unknown>>, cut: (text: string) => string): { readonly uri?: string } {
  return typeof uri === 'string' ? { uri: cut(uri.slice(0, 2048)) } : {};
}

/** Shapes the result of `completion/complete`: values that a person can read. */
export function toCompletion(result: Readonly<Record<string, unknown>>, redact: ShapeOptions['redact']): McpCompletion {
  const { values, hasMore } = asRecord(result['completion']);
  const texts = (Array.isArray(values) ? values : []).filter((value) => typeof value === 'string');
  const usable = texts.map(redact).filter((text) => text.length <= 500 && checkCharacters(text, '').length === 0);
  return { values: usable.slice(0, maxValues), hasMore: hasMore === true || usable.length > maxValues };
}

interface UriTemplate {
  readonly variables: readonly string[];
  /** Whether it expands to this address, with values that cannot lead out of their place. */
  matches(uri: string): boolean;
}

interface Hole {
  readonly name: string;
  readonly isPath: boolean;
}

const maxUri = 2048;
const maxVariables = 10;

/** Reads a template; `undefined` for one that is not supported. */
export function readTemplate(text: string): UriTemplate | undefined {
  if (text.length > maxUri || !/^[a-z][a-z\d+.-]*:/i.test(text)) return undefined;
  const query = /\{\?([\w,]+)\}$/.exec(text);
  const keys = query?.[1]?.split(',') ?? [];
  const literals: string[] = [];
  const holes: Hole[] = [];
  let end = 0;
  const path = query ? text.slice(0, query.index) : text;
  for (const match of path.matchAll(/\{(\+?)(\w{1,64})(\*?)\}/g)) {
    if (match.index === end && end > 0) return undefined; // where one value ends and the next starts, no one could tell
    literals.push(path.slice(end, match.index));
    holes.push({ name: match[2] ?? '', isPath: match[1] === '+' || match[3] === '*' });
    end = match.index + match[0].length;
  }
  literals.push(path.slice(end));
  const variables = [...holes.map(({ name }) => name), ...keys];
  if (literals.some((literal) => /[{}]/.test(literal)) || keys.includes('')) return undefined;
  if (new Set(variables).size < variables.length || variables.length > maxVariables) return undefined;
  return { variables, matches: (uri) => uri.length <= maxUri && matches(uri, { literals, holes, keys }) };
}

interface TemplateParts {
  readonly literals: readonly string[];
  readonly holes: readonly Hole[];
  readonly keys: readonly string[];
}

function matches(uri: string, { literals, holes, keys }: TemplateParts): boolean {
  const at = keys.length > 0 ? uri.indexOf('?', literals[0]?.length ?? 0) : -1;
  if (at !== -1 && !isQuery(uri.slice(at + 1), keys)) return false;
  const rest = at === -1 ? uri : uri.slice(0, at);
  const [first = '', ...others] = literals;
  if (!rest.startsWith(first)) return false;
  let from = first.length;
  for (const [i, literal] of others.entries()) {
    const isLast = i === others.length - 1;
    const to = isLast ? rest.length - literal.length : rest.indexOf(literal, from + 1);
    if (to <= from || (isLast && !rest.endsWith(literal))) return false;
    const hole = holes[i];
    if (!hole || !isSafe(rest.slice(from, to), hole)) return false;
    from = to + literal.length;
  }
  return from === rest.length;
}

/** A value has no characters that end it, and no segment leads up or nowhere, once or twice decoded. */
function isSafe(value: string, { isPath }: Hole): boolean {
  const once = decoded(value);
  const twice = once === undefined ? undefined : decoded(once) ?? once;
  if (once === undefined || twice === undefined || /[?#{}]/.test(value)) return false;
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  if (/[\u0000-\u001f\u007f-\u009f\\]/.test(twice)) return false;
  if (!isPath && /\//.test(twice)) return false;
  return twice.split('/').every((segment, i) => segment !== '..' && segment !== '.' && (segment !== '' || i === 0));
}

function isQuery(text: string, keys: readonly string[]): boolean {
  return text.split('&').every((pair) => {
    const [key = '', ...value] = pair.split('=');
    const once = decoded(value.join('='));
    // oxlint-disable-next-line no-control-regex -- they are what is looked for
    return keys.includes(key) && once !== undefined && !/[#]/.test(pair) && !/[\u0000-\u001f\u007f-\u009f]/.test(once);
  });
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
