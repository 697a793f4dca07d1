/** Tells failures of the network from bugs: `fetch` throws a `TypeError` for both. */

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
