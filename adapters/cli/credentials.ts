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
  'act-for': { type: 'string' },
  'insecure-http': { type: 'boolean' },
  'agents': { type: 'string' },
  'scopes': { type: 'string' },
  'token-env': { type: 'string' },
} as const satisfies ParseArgsOptionsConfig;

/** What the options mean. */
export const credentialUsage = `
  --token-env NAME   the variable with a bearer token (PINNACE_TOKEN)
  --issuer FILE      sign instead, with a certificate of this issuer (pinnace keys)
  --tenant T         the tenant of the certificate
  --subject S        its subject: the person or group that owns what is created (cli)
  --act-for S        send the request for this subject (Pinnace-Subject); the token must allow it
  --insecure-http    send the token over http:// to another machine, where everyone on the way can read it
  --agents A,B       its agents; * for all (*)
  --scopes S,T       its scopes (${scopes.join(',')})`;

/** Who calls an endpoint, and for whom: options of `createClient`. */
export interface CliCaller {
  readonly credentials: ClientCredentials;
  readonly subject?: string;
}

/** Returns who calls the address. @throws UsageError without credentials, and for a token that others could read on its way. */
export async function callerFrom(given: Given, { url, terminal }: CallerOptions): Promise<CliCaller> {
  const actFor = optionOf(given, 'act-for');
  const subject = actFor !== undefined && { subject: actFor };
  const file = optionOf(given, 'issuer');
  if (file !== undefined) return { credentials: await certificateFrom(file, given, terminal), ...subject };
  const name = optionOf(given, 'token-env') ?? 'PINNACE_TOKEN';
  const bearer = terminal.env[name];
  if (!bearer) throw new UsageError(`Set the variable ${name} to a bearer token, or pass --issuer and --tenant`);
  requirePrivacy(given, url);
  return { credentials: { bearer }, ...subject };
}

interface CallerOptions {
  readonly url: URL;
  readonly terminal: Terminal;
}

/** A bearer token is all that it takes to be its caller. @throws UsageError for an address of another machine without TLS. */
export function requirePrivacy({ options }: Given, { protocol, hostname }: URL): void {
  if (protocol === 'https:' || isLoopback(hostname) || options['insecure-http'] === true) return;
  throw new UsageError('The token would be sent unencrypted: use https://, or pass --insecure-http');
}

/** The host names of this machine, as URLs write them. */
function isLoopback(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

async function certificateFrom(file: string, given: Given, terminal: Terminal): Promise<ClientCredentials> {
  const tenant = requireOption(given, 'tenant');
  const { deployment, ...options } = await readIssuerFile(file, terminal);
  const issuer = await createIssuer({ ...options, deployment });
  const agents = listOf(given, 'agents') ?? ['*'];
  const actFor = optionOf(given, 'act-for');
  return await issuer.issue({
    subject: optionOf(given, 'subject') ?? 'cli',
    ...(actFor !== undefined && { actFor: [actFor] }),
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
