/** URI templates with simple variables (RFC 6570, level 1). A variable takes one segment, so no value leads to another place. */

import { PinnaceError } from '../../../../src/base/errors.ts';

/** Finds the variables of a URI; `undefined` for a URI that the template does not describe. */
export type MatchTemplate = (uri: string) => Readonly<Record<string, string>> | undefined;

const longestTemplate = 2048;

/**
 * Compiles a template. Takes linear time, whatever the URI.
 *
 * @throws PinnaceError `invalid_argument` for operators, variables next to each other, and a name that is used twice.
 */
export function compileTemplate(uriTemplate: string): MatchTemplate {
  const parts = uriTemplate.split(/\{([^{}]*)\}/); // literals at even places, names at odd ones
  const names = parts.filter((_, at) => at % 2 === 1);
  const literals = parts.filter((_, at) => at % 2 === 0);
  const isOdd = names.some((name) => !/^\w{1,64}$/.test(name)) || new Set(names).size < names.length ||
    literals.slice(1, -1).includes('') || literals.some((text) => /[{}]/.test(text));
  if (isOdd || uriTemplate.length > longestTemplate) {
    throw new PinnaceError('invalid_argument', 'Cannot use the URI template: it must have simple variables alone', {
      details: { reason: 'template_not_supported' },
    });
  }
  return (uri) => {
    const [first = '', ...rest] = literals;
    if (!uri.startsWith(first)) return undefined;
    const values: Record<string, string> = {};
    let at = first.length;
    for (const [index, literal] of rest.entries()) {
      const isLast = index === rest.length - 1;
      const end = literal === '' ? uri.length : isLast ? uri.length - literal.length : uri.indexOf(literal, at);
      const value = end < at || !uri.startsWith(literal, end) ? undefined : readValue(uri.slice(at, end));
      if (value === undefined) return undefined;
      values[names[index] ?? ''] = value;
      at = end + literal.length;
    }
    return at === uri.length ? values : undefined;
  };
}

/** The decoded value; `undefined` for one that could name another place, or hide something. */
function readValue(text: string): string | undefined {
  if (/[/?#&]/.test(text)) return undefined;
  try {
    const value = decodeURIComponent(text);
    // oxlint-disable-next-line no-control-regex -- these are what is refused
    return value === '' || value === '.' || value === '..' || /[\u0000-\u001f\u007f/\\]/.test(value)
      ? undefined
      : value;
  } catch {
    return undefined;
  }
}
