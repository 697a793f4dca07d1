/** Whether a URL may be called at all, by its text and host alone. No look-up: an address behind a name is the adapter's to check. */

import { checkNames, optional } from './check-options.ts';
import { isIpv4, isPublicAddress } from './network.ts';

/** The rule that refused a URL. */
export type UrlRule =
  | 'too_long'
  | 'forbidden_character'
  | 'scheme_not_allowed'
  | 'credentials_or_escapes_in_authority'
  | 'not_a_url'
  | 'origin_not_listed'
  | 'port_not_allowed'
  | 'address_not_canonical'
  | 'address_not_public'
  | 'host_not_public';

/** What became of the check. */
export type UrlCheck =
  | { readonly ok: true; readonly url: URL }
  | { readonly ok: false; readonly reason: UrlRule };

/** What a URL may be besides public. */
export interface UrlPolicy {
  /** Names without a colon; none but `http` and `https` ever pass. */
  readonly schemes?: readonly string[];
  /**
   * The only origins that pass, exactly as `URL.origin` writes them; one of them may name a port that is not the scheme's own.
   * No list makes a host public.
   */
  readonly origins?: readonly string[];
}

/**
 * Checks a URL before any socket is opened; never throws.
 *
 * @example
 * checkUrl('https://api.example.com/v1'); // { ok: true, url }
 * checkUrl('https://127.0.0.1/'); // { ok: false, reason: 'address_not_public' }
 */
export function checkUrl(url: string | URL, options: UrlPolicy = {}): UrlCheck {
  checkNames('check the address', options, optional('schemes', 'origins'));
  const { schemes = ['https'], origins } = options;
  const text = String(url);
  const broken = checkText(text, schemes);
  if (broken !== undefined) return { ok: false, reason: broken };
  const parsed = URL.parse(text);
  if (parsed === null) return { ok: false, reason: 'not_a_url' };
  const reason = checkOrigin(parsed, origins) ?? checkHost(parsed.hostname, authorityOf(text));
  return reason === undefined ? { ok: true, url: parsed } : { ok: false, reason };
}

const maxUrlLength = 2048;

/** Controls, invisible characters, every kind of space, lone surrogates; a backslash is a slash to some parsers. */
const forbidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Z}\\]/u;

function checkText(text: string, schemes: readonly string[]): UrlRule | undefined {
  if (text.length > maxUrlLength) return 'too_long';
  if (forbidden.test(text)) return 'forbidden_character';
  const scheme = /^(https?):\/\/(?!\/)/i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined || !schemes.includes(scheme)) return 'scheme_not_allowed';
  return /[@%]/.test(authorityOf(text)) ? 'credentials_or_escapes_in_authority' : undefined;
}

/** Host and port as they were written. */
function authorityOf(text: string): string {
  return /^[^:]+:\/\/([^/?#]*)/.exec(text)?.[1] ?? '';
}

function checkOrigin({ origin, port }: URL, origins: readonly string[] | undefined): UrlRule | undefined {
  if (origins === undefined) return port === '' ? undefined : 'port_not_allowed'; // `URL` drops the scheme's own port
  return origins.includes(origin) ? undefined : 'origin_not_listed';
}

function checkHost(hostname: string, authority: string): UrlRule | undefined {
  if (hostname.startsWith('[')) return isPublicAddress(hostname.slice(1, -1)) ? undefined : 'address_not_public';
  if (!isIpv4(hostname)) return isPublicName(hostname) ? undefined : 'host_not_public';
  // `0x7f.1`, `2130706433` and full-width digits are the same address to `URL`, but serve only to disguise it.
  if (authority.replace(/:\d*$/, '') !== hostname) return 'address_not_canonical';
  return isPublicAddress(hostname) ? undefined : 'address_not_public';
}

/** Last labels that lead inside: special-use names (RFC 6761 and followers) and what private networks use. */
const privateSuffixes = new Set(
  'localhost local localdomain internal intranet private corp home lan test invalid example onion alt arpa svc consul'
    .split(' '),
);

/** Names that lead to the services of a cloud's own machines. */
const metadataHosts = new Set(['metadata.google.internal', 'metadata.goog']);

/** Letters, digits, hyphens (RFC 1123); a name in another script is punycode by now. */
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

function isPublicName(name: string): boolean {
  const labels = name.split('.');
  const last = labels.at(-1) ?? '';
  if (name.length > 253 || labels.length < 2 || !labels.every((part) => label.test(part))) return false;
  return !/^\d+$/.test(last) && !privateSuffixes.has(last) && !isMetadataHost(name);
}

function isMetadataHost(name: string): boolean {
  return metadataHosts.has(name) || [...metadataHosts].some((host) => name.endsWith(`.${host}`));
}

/** An issuer without a path is the same with and without a slash (RFC 3986, 6.2.3); any other difference makes another issuer. */
export function isSameIssuer(a: string, b: string): boolean {
  const plain = (issuer: string): string => /^https?:\/\/[^/?#]+\/$/.test(issuer) ? issuer.slice(0, -1) : issuer;
  return plain(a) === plain(b);
}
