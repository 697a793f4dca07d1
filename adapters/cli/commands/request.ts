/** `pinnace request`: signs a request, sends it and prints the response. */

import { PinnaceError } from '../../../src/base/errors.ts';
import { credentialsOf } from '../../transport/client/client-credentials.ts';
import { createSend } from '../../transport/client/send.ts';
import { wait } from '../../transport/client/wait.ts';
import { addressOf, type Command, type Given, optionOf, readInput, type Terminal, UsageError } from '../command.ts';
import { callerFrom, credentialOptions, credentialUsage } from '../credentials.ts';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** The command. */
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
      wait,
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
