/** The file with the private key of an issuer. */

import { stat, writeFile } from 'node:fs/promises';
import process from 'node:process';
import * as v from 'valibot';
import { PinnaceError } from '../../src/base/errors.ts';
import { parse } from '../../src/base/parse.ts';
import { readInput, type Terminal } from './command.ts';

const IssuerFile = v.strictObject({
  iss: v.pipe(v.string(), v.minLength(1)),
  audience: v.pipe(v.string(), v.minLength(1)),
  deployment: v.optional(v.boolean(), false),
  privateKey: v.object({ kty: v.string(), crv: v.string(), x: v.string(), d: v.string() }),
});
/** What the file holds. */
export type IssuerFile = v.InferOutput<typeof IssuerFile>;

/** Writes a new file that only its owner can read. @throws PinnaceError `conflict` when the file exists. */
export async function writeIssuerFile(path: string, content: IssuerFile): Promise<void> {
  await writeSecret(path, `${JSON.stringify(content, null, 2)}\n`);
}

/** Writes a secret to a new file that only its owner can read. @throws PinnaceError `conflict` when the file exists. */
export async function writeSecret(path: string, content: string): Promise<void> {
  try {
    await writeFile(path, content, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    throw new PinnaceError('conflict', 'Cannot write the key: the file exists; choose another name or move it', {
      retryable: false,
    });
  }
}

/** Reads the file. Says so when others can read it. @throws PinnaceError `invalid_argument`, without its content. */
export async function readIssuerFile(path: string, { err }: Pick<Terminal, 'err'>): Promise<IssuerFile> {
  const content = await readInput(path, '--issuer');
  const { mode } = await stat(path);
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
    err('Warning: others can read the issuer file; run chmod 600\n');
  }
  return parse(IssuerFile, dataOf(content), { what: 'the issuer file' });
}

function dataOf(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    throw new PinnaceError('invalid_argument', 'Cannot read the issuer file: it is not JSON');
  }
}
