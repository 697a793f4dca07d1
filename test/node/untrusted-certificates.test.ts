import { execFile } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TlsReport } from '../fixtures/processes/tls-client.ts';
import { authorityName, type Certificate, startTlsServers, type TlsServers } from '../tools/servers/tls-server.ts';

const program = join(import.meta.dirname, '../fixtures/processes/tls-client.ts');
const binaries = join(import.meta.dirname, '../../node_modules/.bin');
/** What else a machine may trust, or tell a runtime to trust. */
const trusts = new Set(['NODE_EXTRA_CA_CERTS', 'DENO_CERT', 'DENO_TLS_CA_STORE']);
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !trusts.has(name)));

let servers: TlsServers;
beforeAll(async () => {
  servers = await startTlsServers();
});
afterAll(() => servers.close());

type Variables = Readonly<Record<string, string>>;

async function report(command: readonly string[], certificate: Certificate, env: Variables = {}): Promise<TlsReport> {
  const [name = '', ...args] = command;
  const { stdout } = await promisify(execFile)(join(binaries, name), [...args, program, servers.origins[certificate]], {
    env: { ...environment, ...env },
  });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as TlsReport; // the program prints it
}

const node = ['node', '--no-warnings'];
const deno = ['deno', 'run', '--no-check', '--allow-net=127.0.0.1', '--allow-env', '--allow-read'];
const trusting: readonly (readonly [string, () => readonly [readonly string[], Variables]])[] = [
  ['Node with NODE_EXTRA_CA_CERTS', () => [node, { NODE_EXTRA_CA_CERTS: servers.authority }]],
  ['Deno with --cert', () => [[...deno, '--cert', servers.authority], {}]],
  ['Deno with DENO_CERT', () => [deno, { DENO_CERT: servers.authority }]],
  ['Deno with NODE_EXTRA_CA_CERTS and its permission', () => [
    [...deno, '--allow-sys=ca'],
    { NODE_EXTRA_CA_CERTS: servers.authority },
  ]],
];

/** The error of each of the four. Only the egress knows the issuer. */
function everyError({ certificate, issuer }: Readonly<Record<string, string>>, text: string): unknown {
  const error = { code: 'unavailable', message: expect.stringContaining(text) as string };
  const details = { reason: 'tls_untrusted', certificate };
  const known = { ...error, details: { ...details, ...(issuer !== undefined && { issuer }) } };
  return { model: known, custom: { code: 'unavailable', details }, tool: known, mcp: known };
}

describe('a server with a certificate of a private authority', () => {
  it.each(trusting)('is a model, a tool and an MCP server to %s', async (_name, make) => {
    const [command, env] = make();
    expect(await report(command, 'valid', env)).toMatchObject({
      model: 'Hello',
      custom: 'Hello',
      tool: { output: { status: 200, data: { left: 7 } } },
      mcp: { serverId: 'docs' },
      warnings: [],
    });
  });

  it.each([['Node', node, { issuer: authorityName }], ['Deno', deno, {}]])(
    'is not trusted by %s otherwise, which says what to start it with',
    async (_, command, known) => {
      const advice = 'start Node with NODE_EXTRA_CA_CERTS=ca.pem, Deno with --cert ca.pem or DENO_CERT=ca.pem';
      const expected = everyError({ certificate: 'unknown_issuer', ...known }, advice);
      expect(await report(command, 'valid')).toMatchObject(expected as object);
    },
  );

  it('is not reached by Deno that lacks the permission for NODE_EXTRA_CA_CERTS, which is named', async () => {
    const details = { reason: 'permission_missing', permission: '--allow-sys=ca' };
    const error = { message: expect.stringContaining('--allow-sys=ca') as string, details };
    expect(await report(deno, 'valid', { NODE_EXTRA_CA_CERTS: servers.authority })).toMatchObject({
      model: error,
      tool: error,
      mcp: error,
    });
  });
});

describe('a server with a certificate', () => {
  it.each(
    [
      ['that has expired', 'expired', { certificate: 'expired' }, 'has expired'],
      ['for another host', 'otherHost', { certificate: 'wrong_host' }, 'is for other host names'],
      ['signed by itself', 'selfSigned', { certificate: 'self_signed' }, 'it is signed by itself'],
    ] as const,
  )('%s is named as such on Node and Deno', async (_, certificate, details, text) => {
    const expected = everyError(details, text) as object;
    expect(await report(node, certificate, { NODE_EXTRA_CA_CERTS: servers.authority })).toMatchObject(expected);
    expect(await report([...deno, '--cert', servers.authority], certificate)).toMatchObject(expected);
  });
});
