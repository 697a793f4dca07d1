/** Fingerprints of tool definitions: what a person has approved, to the last character. */

import { canonicalJson } from '../base/json.ts';
import { sha256 } from '../base/hash.ts';

/**
 * Returns the fingerprint of a raw definition: SHA-256, as hexadecimal digits, over `mcp-tool/v1`, a line feed and the canonical JSON
 * of everything in it, unknown fields too. The order of keys does not matter; one space in a description does.
 */
export async function fingerprintOf(definition: unknown): Promise<string> {
  return await sha256(`mcp-tool/v1\n${canonicalJson(definition)}`);
}

/** Returns the digest of a whole offer. */
export async function digestOf(offer: unknown): Promise<string> {
  return await sha256(`mcp-offer/v1\n${canonicalJson(offer)}`);
}
