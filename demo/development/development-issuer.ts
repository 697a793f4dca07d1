/** The issuer of certificates on a developer's own machine. Its root key is made at each start, and never leaves the memory. */

import { readFileSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { type CertificateIssuer, createIssuer } from '../../adapters/transport/issuer.ts';

/** The audience of the sample endpoint. */
export const developmentAudience = 'pinnace:development';

/** Creates the issuer with a new root key. */
export async function developmentIssuer(): Promise<CertificateIssuer> {
  return await createIssuer({ iss: 'https://issuer.localhost', audience: developmentAudience, deployment: true });
}

/** The address where `npm run ask` gets its certificate, and the token that proves that the user of `npm start` runs it. */
export interface AskAccess {
  readonly issuer: string;
  readonly token: string;
}

const folder = join(import.meta.dirname, '../../node_modules/.cache/pinnace');

/** Returns the file with the access of the endpoint at this port. The development server serves nothing of this folder. */
export function askAccessFile(port: number | string): string {
  return join(folder, `ask-${port}.json`);
}

/** Writes the access for this user alone. */
export async function writeAskAccess(port: number, access: AskAccess): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const fresh = `${askAccessFile(port)}.${process.pid}`; // a file that is there already may be readable by others
  await writeFile(fresh, JSON.stringify(access), { mode: 0o600, flag: 'wx' });
  await rename(fresh, askAccessFile(port));
}

/** Reads the access; `undefined` when no `npm start` runs for this port. */
export function readAskAccess(port: number | string): AskAccess | undefined {
  try {
    return JSON.parse(readFileSync(askAccessFile(port), 'utf8')) as AskAccess; // written above alone
  } catch {
    return undefined;
  }
}
