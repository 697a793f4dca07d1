/** `pinnace request`: signs a request, sends it and prints the response. */

import {
  addressOf,
  type Command,
  type Given,
  listOf,
  optionOf,
  readInput,
  requireOption,
  requirePrivacy,
  type Terminal,
  UsageError,
} from './command.ts';
import type { ParseArgsOptionsConfig } from 'node:util';
import { PinnaceError } from '../../src/base/errors.ts';
import { type Scope, scopes } from '../../src/base/principal.ts';
import { createClient } from '../transport/client.ts';
import { type ClientCredentials, credentialsOf } from '../transport/client/client-credentials.ts';
import { createSend, platformWait } from '../transport/client/send.ts';
import { createIssuer } from '../transport/issuer.ts';
import { readIssuerFile } from './keys.ts';

const credentialOptions = {
  'issuer': { type: 'string' },
  'tenant': { type: 'string' },
  'subject': { type: 'string' },
  'act-for': { type: 'string' },
  'insecure-http': { type: 'boolean' },
  'agents': { type: 'string' },
  'scopes': { type: 'string' },
  'token-env': { type: 'string' },
} as const satisfies ParseArgsOptionsConfig;

const credentialUsage = `
  --token-env NAME   the variable with a bearer token (PINNACE_TOKEN)
  --issuer FILE      sign instead, with a certificate of this issuer (pinnace keys)
  --tenant T         the tenant of the certificate
  --subject S        its subject: the person or group that owns what is created (cli)
  --act-for S        send the request for this subject (Pinnace-Subject); the token must allow it
  --insecure-http    send the token over http:// to another machine, where everyone on the way can read it
  --agents A,B       its agents; * for all (*)
  --scopes S,T       its scopes (${scopes.join(',')})`;

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

export const request: Command = {
  summary: 'Sign a request, send it and print the response',
  usage:
    `pinnace request METHOD URL [--data FILE] [--if-match VERSION] [--key KEY] [--dry-run] (--issuer FILE --tenant T | --token-env NAME)

  --data FILE        the JSON body; - reads the standard input
  --key KEY          the idempotency key of a POST; a new one when absent
  --if-match N       the version to change
  --dry-run          print the request with its headers, and do not send it: what is printed authorizes one request
${credentialUsage}`,
  options: {
    ...credentialOptions,
    'data': { type: 'string' },
    'key': { type: 'string' },
    'if-match': { type: 'string' },
    'dry-run': { type: 'boolean' },
  },
  args: [2, 2],
  async run(given, terminal) {
    const [method, url] = [given.args[0]?.toUpperCase() ?? '', addressOf(given.args[1] ?? '')];
    if (!methods.includes(method)) throw new UsageError(`The method is one of ${methods.join(', ')}`);
    const body = await bodyOf(given, terminal);
    const isDry = given.options['dry-run'] === true;
    const send = createSend({
      ...credentialsOf(await callerFrom(given, { url, terminal })),
      fetch: async (one) => {
        if (!isDry) return await fetch(one);
        terminal.out(await shown(one));
        return new Response(null, { status: 204 });
      },
      now: Date.now,
      wait: platformWait,
      backoff: { attempts: 1, baseMs: 100, capMs: 2_000, random: Math.random },
      silenceMs: 300_000,
    });
    const response = await send({ method, url, body, headers: headersOf(given, method), signal: terminal.signal });
    await print(response, terminal);
    return 0;
  },
};

function headersOf(given: Given, method: string): Readonly<Record<string, string>> {
  const version = optionOf(given, 'if-match');
  const key = optionOf(given, 'key') ?? crypto.randomUUID();
  if (!/^[\w.:-]{1,200}$/.test(key)) throw new UsageError('The key has 1 to 200 letters, digits and _ . : -');
  if (version !== undefined && !/^\d{1,15}$/.test(version)) throw new UsageError('The version is a number');
  return {
    ...(method === 'POST' && { 'idempotency-key': `"${key}"` }),
    ...(version !== undefined && { 'if-match': `"${version}"` }),
  };
}

async function bodyOf(given: Given, { stdin }: Terminal): Promise<unknown> {
  const file = optionOf(given, 'data');
  if (file === undefined) return undefined;
  const content = file === '-' ? await stdin() : await readInput(file, '--data');
  try {
    return JSON.parse(content);
  } catch {
    throw new PinnaceError('invalid_argument', 'Cannot send the body: it is not JSON');
  }
}

async function shown(one: Request): Promise<string> {
  const headers = [...one.headers].map(([name, value]) => `${name}: ${value}\n`);
  return `${one.method} ${one.url}\n${headers.join('')}\n${await one.text()}\n`;
}

/** Prints a stream as it arrives. */
async function print({ body }: Response, { out }: Terminal): Promise<void> {
  if (!body) return;
  let last = '\n';
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    out(piece);
    last = piece.at(-1) ?? last;
  }
  if (last !== '\n') out('\n');
}

export const events: Command = {
  summary: 'Follow the events of an endpoint, one JSON object a line',
  usage:
    `pinnace events URL [--trace ID] [--action A] [--actor ID] [--target ID] [--since ID] [--until-live] (--token-env NAME | --issuer FILE --tenant T)

  URL            the endpoint, without /v1
  --trace ID     only events of this trace; --action, --actor and --target narrow likewise
  --since ID     start after this event; 0 for all stored events
  --until-live   end when all stored events are printed
${credentialUsage}

Needs the scope admin. Reconnects by itself. Ctrl+C ends it.`,
  options: {
    ...credentialOptions,
    'trace': { type: 'string' },
    'action': { type: 'string' },
    'actor': { type: 'string' },
    'target': { type: 'string' },
    'since': { type: 'string' },
    'until-live': { type: 'boolean' },
  },
  args: [1, 1],
  async run(given, terminal) {
    const url = addressOf(given.args[0] ?? '');
    const client = createClient({ url, ...await callerFrom(given, { url, terminal }) });
    const untilLive = given.options['until-live'] === true;
    const stream = await client.events({
      signal: terminal.signal,
      traceId: optionOf(given, 'trace'),
      action: optionOf(given, 'action'),
      actor: optionOf(given, 'actor'),
      target: optionOf(given, 'target'),
      lastEventId: optionOf(given, 'since'),
    });
    for await (const item of stream) {
      if (item.type === 'event') terminal.out(`${JSON.stringify({ id: item.id, ...item.event })}\n`);
      else if (item.type === 'gap') terminal.err(`Missed ${item.dropped ?? 'some'} events\n`);
      else if (untilLive) return 0;
    }
    return 0;
  },
};

/** Who calls an endpoint, and for whom: options of `createClient`. */
interface CliCaller {
  readonly credentials: ClientCredentials;
  readonly subject?: string;
}

/** Returns who calls the address. @throws UsageError without credentials, and for a token that others could read on its way. */
async function callerFrom(given: Given, { url, terminal }: CallerOptions): Promise<CliCaller> {
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
