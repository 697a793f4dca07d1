/** The options of commands that call an endpoint: a token from the environment, or a certificate of an issuer file. */

import type { ParseArgsOptionsConfig } from 'node:util';
import { type Scope, scopes } from '../../src/base/principal.ts';
import type { ClientCredentials } from '../transport/client/client-credentials.ts';
import { createIssuer } from '../transport/issuer.ts';
import { type Given, listOf, optionOf, requireOption, type Terminal, UsageError } from './command.ts';
import { readIssuerFile } from './issuer-file.ts';

/** The options. */
export const credentialOptions = {
  'issuer': { type: 'string' },
  'tenant': { type: 'string' },
  'subject': { type: 'string' },
  'agents': { type: 'string' },
  'scopes': { type: 'string' },
  'token-env': { type: 'string' },
} as const satisfies ParseArgsOptionsConfig;

/** What the options mean. */
export const credentialUsage = `
  --token-env NAME   the variable with a bearer token (PINNACE_TOKEN)
  --issuer FILE      sign instead, with a certificate of this issuer (pinnace keys)
  --tenant T         the tenant of the certificate
  --subject S        its subject (cli)
  --agents A,B       its agents; * for all (*)
  --scopes S,T       its scopes (${scopes.join(',')})`;

/** Returns the credentials. @throws UsageError without any. */
export async function credentialsFrom(given: Given, terminal: Terminal): Promise<ClientCredentials> {
  const file = optionOf(given, 'issuer');
  if (file !== undefined) return await certificateFrom(file, given, terminal);
  const name = optionOf(given, 'token-env') ?? 'PINNACE_TOKEN';
  const bearer = terminal.env[name];
  if (bearer) return { bearer };
  throw new UsageError(`Set the variable ${name} to a bearer token, or pass --issuer and --tenant`);
}

async function certificateFrom(file: string, given: Given, terminal: Terminal): Promise<ClientCredentials> {
  const tenant = requireOption(given, 'tenant');
  const { deployment, ...options } = await readIssuerFile(file, terminal);
  const issuer = await createIssuer({ ...options, deployment });
  const agents = listOf(given, 'agents') ?? ['*'];
  return await issuer.issue({
    sub: optionOf(given, 'subject') ?? 'cli',
    tenant,
    agents: agents.includes('*') ? '*' : agents,
    scopes: scopesFrom(given),
    ...(deployment && { deployment }),
  });
}

function scopesFrom(given: Given): readonly Scope[] {
  const names = listOf(given, 'scopes');
  if (!names) return scopes;
  const known = names.flatMap((name) => scopes.filter((scope) => scope === name));
  if (known.length === names.length) return known;
  throw new UsageError(`The scopes are ${scopes.join(', ')}`);
}
