/** Vectors, texts and peers that grounding is measured with. */

import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { skip } from '../measure.ts';
import { randomNumbers } from '../../fixtures/chance/random.ts';

/** The length of all vectors. */
export const dimensions = 384;

const random = randomNumbers(1);
const gauss = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
/** Drawing from a pool is quick; neighbours in it are as good as new. */
const pool = Float32Array.from({ length: 1 << 20 }, gauss);

function noise(): Float32Array {
  const from = Math.floor(random() * (pool.length - dimensions));
  return pool.subarray(from, from + dimensions);
}

/** Ways to make vectors. Vectors of models form clusters or have few directions; noise is the worst case. */
export const shapes: Readonly<Record<string, (count: number) => Float32Array[]>> = {
  clustered(count) {
    const centres = Array.from({ length: 1_000 }, () => Float32Array.from(noise()));
    return Array.from({ length: count }, () => {
      const [centre, own, more] = [centres[Math.floor(random() * centres.length)]!, noise(), noise()];
      return unit(own.map((x, i) => centre[i]! + 0.8 * x + 0.48 * more[(i * 13) % dimensions]!));
    });
  },
  'low rank 48'(count) {
    const basis = Array.from({ length: 48 }, () => Float32Array.from(noise()));
    return Array.from({ length: count }, () => {
      const vector = Float32Array.from(noise(), (x) => 0.1 * x);
      for (const direction of basis) {
        const weight = pool[Math.floor(random() * pool.length)]!;
        for (let i = 0; i < dimensions; i++) vector[i]! += weight * direction[i]!;
      }
      return unit(vector);
    });
  },
  'isotropic noise': (count) =>
    Array.from({ length: count }, () => unit(Float32Array.from({ length: dimensions }, gauss))),
};

/** Questions between two of the vectors, nearer to one. */
export function queriesOf(vectors: readonly Float32Array[], count: number): Float32Array[] {
  const any = (): Float32Array => vectors[Math.floor(random() * vectors.length)]!;
  return Array.from({ length: count }, () => {
    const [near, far] = [any(), any()];
    return unit(near.map((x, i) => 0.7 * x + 0.3 * far[i]!));
  });
}

/** The same vector at length one. */
function unit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0));
  return vector.map((x) => x / length);
}

const syllables = Array.from('bcdfghklmnprstvz').flatMap((a) => Array.from('aeiou', (b) => a + b));
const words = Array.from({ length: 20_000 }, (_, at) => {
  const length = 2 + (at % 4);
  return Array.from({ length }, () => syllables[Math.floor(random() * syllables.length)]).join('') + at.toString(36);
});
const word = (): string => words[Math.floor(random() ** 3 * words.length)]!;

/** Short documents whose words are as unlike in frequency as those of a language. */
export function textsOf(count: number): { readonly id: string; readonly title: string; readonly text: string }[] {
  const some = (length: number): string => Array.from({ length }, word).join(' ');
  return Array.from({ length: count }, (_, at) => ({ id: String(at), title: some(4), text: some(25) }));
}

/** Two words each. */
export function textQueries(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `${words[(at * 37) % 2_000]} ${words[(at * 91) % 8_000]}`);
}

/** Returns the ids, or numbers, of the nearest vectors. */
export type Search = (query: Float32Array, topK: number) => Promise<readonly string[]>;

const variable = 'PINNACE_GROUNDING_PEERS';

/** Imports one of the peers' packages from the folder that the environment names; `undefined` when it names none. */
export async function loadPeer(name: string): Promise<Record<string, unknown> | undefined> {
  const folder = process.env[variable];
  if (folder === undefined) return undefined;
  return await import(pathToFileURL(join(folder, 'node_modules', name)).href);
}

/** Says how to have the peers measured too. */
export function sayHowToCompare(): void {
  if (process.env[variable] === undefined) {
    skip(`peers: ${variable} must name a folder with @langchain/classic, @orama/orama and hnsw`);
  }
}
