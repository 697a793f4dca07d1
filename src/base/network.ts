/** Which IP addresses belong to the public internet. What is not surely public is not public. */

/** A range of addresses by its first 32 bits: IPv4 as a whole, IPv6 by its prefix. */
interface Range {
  readonly first: number;
  readonly last: number;
}

/** IPv4: everything is public but these (RFC 6890 and followers, and the wire server of Azure). */
const privateIpv4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '168.63.129.16/32',
].map(rangeOf);

/** IPv6: only global unicast is public, so that mapped, translated and future ranges are out. */
const globalIpv6 = rangeOf('2000::/3');

/** The parts of global unicast that are not public: protocol assignments, documentation, 6to4. */
const privateIpv6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'].map(rangeOf);

/** Whether a text is an IPv4 or IPv6 address, as `URL` or a resolver writes it, that belongs to the public internet. */
export function isPublicAddress(ip: string): boolean {
  const ipv4 = parseIpv4(ip);
  if (ipv4 !== undefined) return !privateIpv4.some((range) => contains(range, ipv4));
  const ipv6 = parseIpv6(ip);
  if (ipv6 === undefined) return false;
  return contains(globalIpv6, ipv6) && !privateIpv6.some((range) => contains(range, ipv6));
}

/** Whether a text is an IPv4 address in the one canonical form: four decimal numbers without leading zeros. */
export function isIpv4(text: string): boolean {
  return parseIpv4(text) !== undefined;
}

function contains({ first, last }: Range, value: number): boolean {
  return value >= first && value <= last;
}

function rangeOf(cidr: string): Range {
  const [ip = '', bits] = cidr.split('/');
  const first = parseIpv4(ip) ?? parseIpv6(ip) ?? NaN;
  return { first, last: first + 2 ** (32 - Number(bits)) - 1 };
}

function parseIpv4(text: string): number | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (match === null) return undefined;
  let value = 0;
  for (const octet of match.slice(1)) {
    if (Number(octet) > 255 || (octet.length > 1 && octet.startsWith('0'))) return undefined;
    value = value * 256 + Number(octet);
  }
  return value;
}

/** The first 32 bits of an IPv6 address; no table needs more. An address with a zone (`%eth0`) is invalid. */
function parseIpv6(text: string): number | undefined {
  const halves = withoutIpv4Tail(text)?.split('::') ?? [];
  if (halves.length < 1 || halves.length > 2) return undefined;
  const [head = [], tail = []] = halves.map((half) => (half === '' ? [] : half.split(':')));
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const groups = [...head, ...Array.from({ length: missing }, () => '0'), ...tail];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined;
  return parseInt(groups[0] ?? '', 16) * 65_536 + parseInt(groups[1] ?? '', 16);
}

/** `::ffff:1.2.3.4` -> `::ffff:102:304`. */
function withoutIpv4Tail(text: string): string | undefined {
  if (!text.includes('.')) return text;
  const at = text.lastIndexOf(':') + 1;
  const ipv4 = parseIpv4(text.slice(at));
  if (ipv4 === undefined || at === 0) return undefined;
  return `${text.slice(0, at)}${(ipv4 >>> 16).toString(16)}:${(ipv4 & 0xffff).toString(16)}`;
}

/** What engines say when a request could not be sent, or its answer broke off. Anything else in a `TypeError` is a bug. */
const wordings: readonly RegExp[] = [
  /^fetch failed\b/i, // Node and Deno; Bun
  /^failed to fetch\b/i, // Chromium
  /^network ?error\b/i, // Chromium in a body; Firefox: "NetworkError when attempting to fetch resource."
  /^error in input stream\b/i, // Firefox in a body
  /^load failed\b/i, // Safari
  /^the network connection was lost\b/i, // Safari in a body
  /^network connection lost\b/i, // workerd
  /^terminated\b/, // Node in a body
  /^error (?:sending request|reading a body)\b/i, // Deno
  /^unable to connect\b/i, // Bun
];

/** Codes of Node, its `fetch` and Bun: of sockets, names and certificates. */
const codes: readonly RegExp[] = [
  /^(?:ECONN[A-Z]+|EHOST[A-Z]+|ENET[A-Z]+|ENOTFOUND|EAI_[A-Z]+|EPIPE|ETIMEDOUT)$/,
  /^UND_ERR_(?:SOCKET|CLOSED|DESTROYED|(?:CONNECT|HEADERS|BODY)_TIMEOUT|RES_CONTENT_LENGTH_MISMATCH)$/,
  /^(?:ERR_(?:SSL|TLS)_\w+|CERT_\w+|\w*SELF_SIGNED\w*|UNABLE_TO_\w+)$/,
  /^Connection(?:Refused|Closed)$/,
];

/** Whether the error says that a server could not be reached, or that its answer broke off. */
export function isNetworkError(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { name, message, code, cause }: NetworkFacts = error;
  if (isSocketCode(code)) return true;
  if (name !== 'TypeError') return false;
  if (typeof cause === 'object' && cause !== null && isSocketCode((cause as NetworkFacts).code)) return true; // any object
  return typeof message === 'string' && wordings.some((wording) => wording.test(message));
}

interface NetworkFacts {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly cause?: unknown;
}

/** `ERR_INVALID_URL` and the codes of files are none of them. */
function isSocketCode(code: unknown): boolean {
  return typeof code === 'string' && codes.some((known) => known.test(code));
}
