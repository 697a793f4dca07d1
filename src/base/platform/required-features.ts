/**
 * Rejects platforms that lack what the code uses, at import and with one clear error: Node 20 and 21, and browsers before 2024.
 * Without it the first use fails with a `TypeError` somewhere inside. Bundlers leave it out.
 */

if (!('withResolvers' in Promise) || !('union' in Set.prototype)) {
  throw new Error(
    'Pinnace needs Node 22, Deno 2.5, Chromium 124, Firefox 131 or later: this platform lacks Promise.withResolvers or Set.prototype.union',
  );
}
