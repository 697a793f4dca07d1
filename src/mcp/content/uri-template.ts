/**
 * URI templates (RFC 6570) as far as resources need them: `{name}` for one segment, `{+name}` for a path, `{?a,b}` at the end for a
 * query. Matching takes time in proportion to the address.
 */

/** A template that was read. */
export interface UriTemplate {
  readonly variables: readonly string[];
  /** Whether it expands to this address, with values that cannot lead out of their place. */
  matches(uri: string): boolean;
}

interface Hole {
  readonly name: string;
  readonly isPath: boolean;
}

const maxLength = 2048;
const maxVariables = 10;

/** Reads a template; `undefined` for one that is not supported. */
export function readTemplate(text: string): UriTemplate | undefined {
  if (text.length > maxLength || !/^[a-z][a-z\d+.-]*:/i.test(text)) return undefined;
  const query = /\{\?([\w,]+)\}$/.exec(text);
  const keys = query?.[1]?.split(',') ?? [];
  const literals: string[] = [];
  const holes: Hole[] = [];
  let end = 0;
  const path = query ? text.slice(0, query.index) : text;
  for (const match of path.matchAll(/\{(\+?)(\w{1,64})\}/g)) {
    if (match.index === end && end > 0) return undefined; // where one value ends and the next starts, no one could tell
    literals.push(path.slice(end, match.index));
    holes.push({ name: match[2] ?? '', isPath: match[1] === '+' });
    end = match.index + match[0].length;
  }
  literals.push(path.slice(end));
  const variables = [...holes.map(({ name }) => name), ...keys];
  if (literals.some((literal) => /[{}]/.test(literal)) || keys.includes('')) return undefined;
  if (new Set(variables).size < variables.length || variables.length > maxVariables) return undefined;
  return { variables, matches: (uri) => uri.length <= maxLength && matches(uri, { literals, holes, keys }) };
}

interface Parts {
  readonly literals: readonly string[];
  readonly holes: readonly Hole[];
  readonly keys: readonly string[];
}

function matches(uri: string, { literals, holes, keys }: Parts): boolean {
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
