/** `pinnace keys`: a root key for an issuer of session certificates. */

import { Buffer } from 'node:buffer';
import { stat, writeFile } from 'node:fs/promises';
import process from 'node:process';
import * as v from 'valibot';
import { PinnaceError } from '../../src/base/errors.ts';
import { parse } from '../../src/base/parse.ts';
import { digestOfToken } from '../transport/bearer-authenticator.ts';
import { createIssuer, generateRootKey } from '../transport/issuer.ts';
import { type Command, readInput, requireOption, type Terminal } from './command.ts';

export const keys: Command = {
  summary: 'Make the key of an issuer; print its public entry for the endpoint',
  usage: `pinnace keys --iss URL --audience NAME --out FILE [--deployment]

  --iss URL        the issuer's name in certificates
  --audience NAME  the audience that the endpoint is configured with
  --out FILE       receives the private key; a new file, readable by its owner only
  --deployment     its certificates may speak for the deployment

Prints the entry for "issuers" of createAuthenticator, as JSON.`,
  options: {
    iss: { type: 'string' },
    audience: { type: 'string' },
    out: { type: 'string' },
    deployment: { type: 'boolean' },
  },
  args: [0, 0],
  async run(given, { out }) {
    const [iss, audience, file] = ['iss', 'audience', 'out'].map((name) => requireOption(given, name)) as [
      string,
      string,
      string,
    ]; // as many as names
    const deployment = given.options['deployment'] === true;
    const { kty, crv = '', x = '', d = '' } = await generateRootKey();
    const privateKey = { kty, crv, x, d };
    const { trusted } = await createIssuer({ iss, audience, privateKey, deployment });
    await writeIssuerFile(file, { iss, audience, deployment, privateKey });
    out(`${JSON.stringify(trusted, null, 2)}\n`);
    return 0;
  },
};

export const token: Command = {
  summary: 'Make a bearer token; print its digest for the endpoint',
  usage: `pinnace token --out FILE

  --out FILE  receives the token; a new file, readable by its owner only

Prints the "digest" for bearerAuthenticator and for the token of metrics.`,
  options: { out: { type: 'string' } },
  args: [0, 0],
  async run(given, { out }) {
    const bits = crypto.getRandomValues(new Uint8Array(32));
    const made = Buffer.from(bits).toString('base64url');
    await writeSecret(requireOption(given, 'out'), `${made}\n`);
    out(`${await digestOfToken(made)}\n`);
    return 0;
  },
};

const IssuerFile = v.strictObject({
  iss: v.pipe(v.string(), v.minLength(1)),
  audience: v.pipe(v.string(), v.minLength(1)),
  deployment: v.optional(v.boolean(), false),
  privateKey: v.object({ kty: v.string(), crv: v.string(), x: v.string(), d: v.string() }),
});
type IssuerFile = v.InferOutput<typeof IssuerFile>;

/** Writes a new file that only its owner can read. @throws PinnaceError `conflict` when the file exists. */
async function writeIssuerFile(path: string, content: IssuerFile): Promise<void> {
  await writeSecret(path, `${JSON.stringify(content, null, 2)}\n`);
}

/** Writes a secret to a new file that only its owner can read. @throws PinnaceError `conflict` when the file exists. */
async function writeSecret(path: string, content: string): Promise<void> {
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
