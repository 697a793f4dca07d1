import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type NewApps, packApps, runIn } from '../../tools/apps/new-apps.ts';
import { freePort } from '../../tools/servers/http-server.ts';
import { postgresPrograms, type PostgresServer, startPostgres } from '../../tools/servers/postgres-server.ts';
import { snippetsIn } from '../../tools/snippets.ts';

const page = 'docs/deploy-node.md';
const commands = (await snippetsIn('sh')).filter((snippet) => snippet.page === page).map(({ code }) => code);
const [endpoint] = (await snippetsIn('ts')).filter((snippet) => snippet.page === page);

describe.skipIf(postgresPrograms === undefined)('the first deployment on Node', () => {
  let apps: NewApps;
  let database: PostgresServer;
  let server: ChildProcess | undefined;
  beforeAll(async () => {
    [apps, database] = await Promise.all([packApps(), startPostgres()]);
  });
  afterAll(async () => {
    server?.kill('SIGKILL');
    await Promise.all([apps.close(), database.stop()]);
  });

  it('starts, answers a signed request and stops, with the commands of its page', async () => {
    const app = await apps.create('node', 'deployed'); // installs what the first command of the page installs
    await writeFile(join(app, 'endpoint.ts'), endpoint?.code ?? '');
    const port = await freePort();
    const adapted = (code: string): string =>
      code.replaceAll('npx pinnace', 'node node_modules/pinnace/dist/adapters/cli/pinnace.js')
        .replaceAll('localhost:8000', `localhost:${port}`).replace(
          /DATABASE_URL=\S+/,
          'DATABASE_URL=postgres:///postgres',
        )
        .replace('node endpoint.ts', 'exec node endpoint.ts');
    const [, start = '', send = ''] = commands.map(adapted);
    const path = `${join(import.meta.dirname, '../../../node_modules/.bin')}:${process.env['PATH']}`;
    const env = {
      ...process.env,
      PATH: path,
      PORT: String(port),
      AUTHORITIES: `localhost:${port}`,
      PGHOST: dirname(database.socket),
      PGUSER: 'pinnace',
    };
    server = spawn('sh', ['-ec', start], { cwd: app, env, stdio: ['ignore', 'ignore', 'inherit'] });
    const ended = once(server, 'exit');
    const ready = async (): Promise<number> =>
      await fetch(`http://127.0.0.1:${port}/v1/readyz`).then(({ status }) => status, () => 0);
    await expect.poll(ready).toBe(200);
    const { code, output } = await runIn(app, ['sh', '-ec', send]);
    expect(code, output).toBe(0);
    expect(output).toContain('"output":5');
    server.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  it('has a health check that a shell can run, and that fails without an endpoint', async () => {
    const text = await readFile(join(import.meta.dirname, '../../..', page), 'utf8');
    const [, array = ''] = /HEALTHCHECK CMD (\[.*\])/.exec(text) ?? [];
    const [, ...args] = JSON.parse(array) as readonly string[];
    const at = (port: number) => args.map((word) => word.replace('8000', String(port)));
    expect(spawnSync(process.execPath, at(await freePort())).status).toBe(1);
  });
});
