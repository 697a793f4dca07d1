/** The address of another service, and of a record in it. */

import { PinnaceError } from '../../src/base/errors.ts';

/**
 * Returns origin and path of a URL, without a slash at the end.
 * @throws PinnaceError `invalid_argument` that does not quote the URL: it may hold a password, or a key in its query.
 */
export function baseOf(url: string | URL, what: string): string {
  const parsed = URL.parse(url);
  const isUsable = parsed !== null && /^https?:$/.test(parsed.protocol) && parsed.username === '' &&
    parsed.password === '' && parsed.search === '' && parsed.hash === '';
  if (isUsable) return parsed.href.replace(/[/?#]+$/, '');
  const advice = 'it must be http or https without user name, password, query and fragment';
  throw new PinnaceError(
    'invalid_argument',
    `Cannot use the URL of ${what}: ${advice}, such as "https://control.example/v1"`,
    {
      details: { reason: 'invalid_url' },
    },
  );
}

/** Returns an id as one segment of a path; `undefined` for text that cannot be a segment, such as `..`. */
export function segmentOf(id: string): string | undefined {
  if (id === '' || id === '.' || id === '..' || !id.isWellFormed()) return undefined;
  return encodeURIComponent(id);
}
