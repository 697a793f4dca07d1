/** Randomness and cryptography of the platform, as a simulation needs them. */

import { type Chance, createChance } from '../chance.ts';
import type { Answers } from './answers.ts';
import type { Replacements } from './replacements.ts';

/** Replaces the sources of randomness by one that is the same for the same seed. Keys that the platform generates stay random. */
export function replaceRandomness({ replace }: Replacements, seed: number): void {
  const chance = createChance(seed ^ 0x5eed);
  replace(Math, { random: chance.next });
  replace(crypto, {
    getRandomValues: <T extends ArrayBufferView>(view: T): T => {
      const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
      for (let at = 0; at < bytes.length; at++) bytes[at] = chance.below(256);
      return view;
    },
    randomUUID: () => uuidOf(chance),
  });
}

/** A UUID of version 4 (RFC 9562). */
function uuidOf(chance: Chance): string {
  return 'xxxxxxxx-xxxx-4xxx-vxxx-xxxxxxxxxxxx'.replace(/[xv]/g, (place) => {
    const digit = place === 'x' ? chance.below(16) : 8 + chance.below(4);
    return digit.toString(16);
  });
}

const methods = [
  'decrypt',
  'deriveBits',
  'deriveKey',
  'digest',
  'encrypt',
  'exportKey',
  'generateKey',
  'importKey',
  'sign',
  'unwrapKey',
  'verify',
  'wrapKey',
] as const;

/** Makes time wait for the platform's cryptography, which works in other threads. */
export function replaceCryptography({ replace }: Replacements, { hold }: Answers): void {
  const { subtle } = crypto;
  for (const name of methods) {
    const method = (subtle[name] as (...args: unknown[]) => Promise<unknown>).bind(subtle); // every one returns a promise
    replace(subtle, { [name]: (...args: unknown[]) => hold(method(...args)) });
  }
}
