/** The issuer of certificates on a developer's own machine: its root key is made once and kept with the installed packages. */

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type CertificateIssuer, createIssuer, generateRootKey } from '../adapters/transport/issuer.ts';

/** The audience of the sample endpoint. */
export const developmentAudience = 'pinnace:development';

const file = join(import.meta.dirname, '../node_modules/.cache/pinnace/development-issuer.json');

/** Gives the issuer, with a new root key the first time. */
export async function developmentIssuer(): Promise<CertificateIssuer> {
  const privateKey = await readKey() ?? await makeKey();
  return await createIssuer({
    iss: 'https://issuer.localhost',
    audience: developmentAudience,
    privateKey,
    deployment: true,
  });
}

async function readKey(): Promise<Awaited<ReturnType<typeof generateRootKey>> | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : JSON.parse(text) as Awaited<ReturnType<typeof generateRootKey>>; // written below
}

async function makeKey(): ReturnType<typeof generateRootKey> {
  const key = await generateRootKey();
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, JSON.stringify(key), { mode: 0o600 });
  return key;
}
