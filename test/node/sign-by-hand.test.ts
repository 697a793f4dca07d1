import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { staticCatalog } from '../../adapters/catalog/static.ts';
import { rehearsal } from '../../adapters/models/rehearsal.ts';
import { toNodeListener } from '../../adapters/node/listener.ts';
import { memoryStorage } from '../../adapters/storage/memory.ts';
import { createAuthenticator } from '../../adapters/transport/authenticator.ts';
import { createHandler } from '../../adapters/transport/http.ts';
import { createIssuer, generateRootKey } from '../../adapters/transport/issuer.ts';
import { createRuntime } from '../../src/index.ts';
import { closeServer, listen } from '../tools/servers/http-server.ts';

const root = join(import.meta.dirname, '../..');
const execute = promisify(execFile);
const run = (program: string, args: readonly string[], options: { env?: NodeJS.ProcessEnv } = {}) =>
  execute(program, args, { ...options, timeout: 60_000 });
const page = await readFile(join(root, 'docs/sign-by-hand.md'), 'utf8');
const block = (language: string): string =>
  new RegExp(`\`\`\`${language}\n([^\`]*)\n\`\`\``).exec(page.slice(page.indexOf('## A test vector')))?.[1] ?? '';

/** Whether a program is there; the programs of others need Python with `cryptography`, openssl 3 and Go. */
const has = async (program: string, ...args: string[]): Promise<boolean> =>
  await run(program, args).then(() => true, () => false);
const here = {
  python: await has('python3', '-c', 'import cryptography'),
  openssl: await has('openssl', 'version'),
  go: await has('go', 'version'),
};

describe('the test vector of the page', () => {
  const seed = (byte: number): string => Buffer.alloc(32, byte).toString('base64url');
  const headersOf = (text: string): Record<string, string> =>
    Object.fromEntries(
      text.split('\n').map((line) => {
        const [, name = '', value = ''] = /^"?([\w-]+)"?: (.*)$/.exec(line) ?? [];
        return [name, value];
      }),
    );
  const lines = block('text').split('\n');
  const fields = headersOf(lines.filter((line) => !line.startsWith('"@')).join('\n'));

  async function request(body: string): Promise<Request> {
    return new Request('https://agents.example/v1/runs', {
      method: 'POST',
      headers: { ...fields, ...headersOf(block('http')) },
      body,
    });
  }

  async function authenticator(): Promise<ReturnType<typeof createAuthenticator>> {
    const x = 'iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w'; // the public half of 32 bytes of 1
    const privateKey = { kty: 'OKP', crv: 'Ed25519', x, d: seed(1) };
    const { trusted } = await createIssuer({ iss: 'https://chat.example', audience: 'agents', privateKey });
    return createAuthenticator({
      issuers: [trusted],
      audience: 'agents',
      authorities: ['agents.example'],
      storage: memoryStorage(),
      now: () => 1_800_000_010_000,
    });
  }

  it('is accepted in its time, and says who calls', async () => {
    const principal = await (await authenticator()).authenticate(await request('{"agentId":"helper"}'));
    expect(principal).toMatchObject({ tenant: 'acme', subject: 'ada', agents: ['helper'] });
    expect([...principal.scopes].toSorted()).toEqual(['run:create', 'run:read']);
  });

  it('is refused with another body', async () => {
    await expect((await authenticator()).authenticate(await request('{"agentId":"other"}')))
      .rejects.toMatchObject({ code: 'digest_mismatch' });
  });

  it('has the base that its signature is of, and the header and claims of its certificate', async () => {
    const [head = '', claims = ''] = (fields['authorization'] ?? '').split(' ')[1]?.split('.') ?? [];
    const decoded = [head, claims].map((part) => Buffer.from(part, 'base64url').toString());
    expect(decoded.join('\n')).toBe(block('jsonl'));
    const { cnf } = JSON.parse(decoded[1] ?? '') as { cnf: { jwk: JsonWebKey } };
    const key = await crypto.subtle.importKey('jwk', cnf.jwk, 'Ed25519', false, ['verify']);
    const signature = Buffer.from(/Signature: gc=:(.*):/.exec(block('http'))?.[1] ?? '', 'base64');
    expect(await crypto.subtle.verify('Ed25519', key, signature, new TextEncoder().encode(block('text')))).toBe(true);
  });
});

describe('the programs of the page', () => {
  let folder = '';
  let url = '';
  let server: ReturnType<typeof createServer>;
  const program = (name: string): string => join(root, 'demo/examples/sign-by-hand', name);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sign-'));
    const [iss, audience, privateKey] = ['https://chat.example', 'agents', await generateRootKey()];
    const { trusted } = await createIssuer({ iss, audience, privateKey });
    await writeFile(join(folder, 'issuer.json'), JSON.stringify({ iss, audience, privateKey }, null, 2));
    const storage = memoryStorage();
    const catalog = staticCatalog({
      agents: [{ id: 'helper', name: 'Helper', providerId: 'main' }],
      providers: [{ id: 'main', kind: 'rehearsal' }],
    });
    const runtime = createRuntime({ catalog, storage, models: { model: () => rehearsal({ delayMs: 0 }) } });
    const authorities: string[] = [];
    server = createServer((request, response) => {
      const authenticator = createAuthenticator({ issuers: [trusted], audience, authorities, storage });
      toNodeListener(createHandler(runtime, { authenticator }))(request, response);
    });
    url = await listen(server);
    authorities.push(new URL(url).host);
  });
  afterAll(async () => {
    await closeServer(server);
    await rm(folder, { recursive: true, force: true });
  });

  it.runIf(here.python)('run an agent from Python', async () => {
    const { stdout } = await run('python3', [program('sign.py'), join(folder, 'issuer.json'), url, 'helper', 'Hello']);
    expect(stdout).toMatch(/\w+ \w+/);
  });

  it.runIf(here.openssl)('run an agent with openssl and curl', async () => {
    const { stdout } = await run('sh', [program('sign.sh'), join(folder, 'issuer.json'), url, 'helper', 'Hello']);
    expect(stdout).toContain('"type":"text-delta"');
    expect(stdout).toContain('"state":"completed"');
  });

  it.runIf(here.go)('run an agent from Go', async () => {
    const args = ['run', program('sign.go'), join(folder, 'issuer.json'), url, 'helper', 'Hello'];
    const { stdout } = await run('go', args, { env: { ...process.env, GOFLAGS: '-mod=mod', GOCACHE: folder } });
    expect(stdout).toContain('"type":"text-delta"');
  });

  it.runIf(here.openssl)('say what the endpoint refused', async () => {
    const args = [program('sign.sh'), join(folder, 'issuer.json'), url, 'nobody', 'Hello'];
    await expect(run('sh', args)).rejects.toMatchObject({ stdout: expect.stringContaining('"code":') });
  });
});
