/** SHA-256, for ids that follow from the content, for chains, and for detecting changes. */

/** The hash of bytes, or of a text as UTF-8, as hexadecimal digits. */
export async function sha256(data: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
  return hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}

const digits = Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));

/** At most 4,096 bytes as hexadecimal digits. Runtimes of 2024 have no `toHex`. */
export function hexOf(bytes: Uint8Array): string {
  const codes: number[] = [];
  for (let i = 0; i < bytes.length; i++) {
    codes.push(digits[bytes[i]! >> 4]!, digits[bytes[i]! & 15]!); // four bits are below 16
  }
  return String.fromCharCode(...codes); // added digit by digit, the text would be a tree of pieces
}

const constants = Int32Array.from(firstPrimes(64), (prime) => fraction(Math.cbrt(prime)));
const initial = Int32Array.from(firstPrimes(8), (prime) => fraction(Math.sqrt(prime)));

const blockBytes = 64;
const encoder = new TextEncoder();

/** Returns the SHA-256 of a text's UTF-8 bytes as hexadecimal digits. */
export function sha256Sync(text: string): string {
  return hexOfWords(finish(initial, encoder.encode(text), 0));
}

/** Up to this length, hashing here takes less time than `crypto.subtle`, which wakes a thread. */
const shortText = 8_192;

/** The same, without blocking for a long text. */
export function sha256OfText(text: string): string | Promise<string> {
  return text.length <= shortText ? sha256Sync(text) : sha256(text);
}

/** Returns a function that computes the HMAC-SHA-256 of a text's UTF-8 bytes as hexadecimal digits. The key has at most 64 bytes. */
export function hmacSha256Sync(key: Uint8Array): (text: string) => string {
  const [inner, outer] = [afterKey(key, 0x36), afterKey(key, 0x5c)];
  return (text) => {
    const words = finish(inner, encoder.encode(text), blockBytes);
    return hexOfWords(finish(outer, bytesOfWords(words), blockBytes));
  };
}

/** The state after the block that the key makes with a pad: the same for every text. */
function afterKey(key: Uint8Array, pad: number): Int32Array {
  const block = new Int32Array(16);
  for (let i = 0; i < blockBytes; i++) block[i >> 2]! |= ((key[i] ?? 0) ^ pad) << (24 - (i & 3) * 8);
  const state = initial.slice();
  compress(state, new Int32Array(64), { words: block, at: 0 });
  return state;
}

/** Working memory: nothing in it outlives a call. */
const schedule = new Int32Array(64);

/** The state after the last bytes of a message, of which `before` bytes are in the given state. */
function finish(given: Int32Array, bytes: Uint8Array, before: number): Int32Array {
  const words = padded(bytes, before);
  const state = given.slice();
  const block = { words, at: 0 };
  for (; block.at < words.length; block.at += 16) compress(state, schedule, block);
  return state;
}

function bytesOfWords(words: Int32Array): Uint8Array {
  const bytes = new Uint8Array(words.length * 4);
  for (let i = 0; i < bytes.length; i++) bytes[i] = words[i >> 2]! >>> (24 - (i & 3) * 8);
  return bytes;
}

function hexOfWords(words: Int32Array): string {
  return hexOf(bytesOfWords(words));
}

/** The message as 32-bit words, with its end mark and its length in bits. */
function padded(bytes: Uint8Array, before: number): Int32Array {
  const length = ((bytes.length + 8) >> 6) * 16 + 16;
  const words = new Int32Array(length);
  for (let i = 0; i < bytes.length; i++) words[i >> 2]! |= bytes[i]! << (24 - (i & 3) * 8);
  words[bytes.length >> 2]! |= 0x80 << (24 - (bytes.length & 3) * 8);
  const total = before + bytes.length;
  words[length - 2] = Math.floor(total / 0x2000_0000);
  words[length - 1] = total << 3;
  return words;
}

function compress(
  state: Int32Array,
  w: Int32Array,
  { words, at }: { readonly words: Int32Array; readonly at: number },
): void {
  for (let i = 0; i < 16; i++) w[i] = words[at + i]!;
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15]!;
    const y = w[i - 2]!;
    const s0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3);
    const s1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10);
    w[i] = (w[i - 16]! + s0 + w[i - 7]! + s1) | 0;
  }
  // Not by destructuring: the iterator of a typed array takes as long as the rounds.
  let a = state[0]!, b = state[1]!, c = state[2]!, d = state[3]!;
  let e = state[4]!, f = state[5]!, g = state[6]!, h = state[7]!;
  for (let i = 0; i < 64; i++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + constants[i]! + w[i]!) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  state[0]! += a;
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
  state[4]! += e;
  state[5]! += f;
  state[6]! += g;
  state[7]! += h;
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

/** The first 32 bits of the fractional part. */
function fraction(root: number): number {
  return Math.floor((root - Math.floor(root)) * 0x1_0000_0000) | 0;
}

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let n = 2; primes.length < count; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  return primes;
}

/** A longer run of bytes is sampled: files are many bytes, and are not edited in place. */
const mostBytes = 4_096;

/** The two lanes of a hash under way: nothing in them outlives a call. */
let [laneA, laneB] = [0, 0];

/** 53 bits over a value as its JSON is, without writing it: two lanes of 32 bits. For changes, not against attackers. */
export function quickHash(value: unknown): number {
  laneA = 0xdeadbeef;
  laneB = 0x41c6ce57;
  visit(value);
  const a = Math.imul(laneA ^ (laneA >>> 16), 2246822507) ^ Math.imul(laneB ^ (laneB >>> 13), 3266489909);
  const b = Math.imul(laneB ^ (laneB >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return 4294967296 * (2097151 & b) + (a >>> 0);
}

function addCode(code: number): void {
  laneA = Math.imul(laneA ^ code, 2654435761);
  laneB = Math.imul(laneB ^ code, 1597334677);
}

function addText(text: string, step: number): void {
  let [a, b] = [Math.imul(laneA ^ text.length, 2654435761), Math.imul(laneB ^ text.length, 1597334677)];
  for (let i = 0; i < text.length; i += step) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  laneA = a;
  laneB = b;
}

function visit(value: unknown): void {
  if (typeof value === 'string') addText(value, 1);
  else if (typeof value !== 'object' || value === null) addText(String(value), 1);
  else if (value instanceof Uint8Array) {
    addCode(value.length);
    for (let i = 0; i < value.length; i += Math.ceil(value.length / mostBytes)) addCode(value[i]!);
  } else if (Array.isArray(value)) {
    addCode(91);
    for (const item of value) visit(item);
  } else {
    addCode(123);
    for (const name of Object.keys(value)) {
      const field: unknown = (value as Record<string, unknown>)[name]; // JSON
      if (field === undefined) continue;
      addText(name, 1);
      if (name === 'data' && typeof field === 'string') addText(field, Math.ceil(field.length / mostBytes) || 1);
      else visit(field);
    }
  }
}
