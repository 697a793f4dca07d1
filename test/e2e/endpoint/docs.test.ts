import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EndpointProcess, startEndpoint } from '../../tools/servers/endpoint.ts';
import { snippetsIn } from '../../tools/snippets.ts';

const hasCurl = spawnSync('curl', ['--version']).status === 0;
/** One process for all: a page's lines build on what the lines before have made. */
let endpoint: EndpointProcess;
beforeAll(async () => {
  endpoint = await startEndpoint();
});
afterAll(() => endpoint.stop());

/** The commands of a block; one may span lines. */
function commandsOf(code: string): string[] {
  return code.replace(/\\\n\s*/g, '').split('\n').filter((line) => line.startsWith('curl '));
}

/** Runs one as a reader would, who sees also whether it is refused. A stream without end is left when it has begun. */
async function run(command: string): Promise<{ status: string; text: string }> {
  const shell = spawn('sh', [
    '-c',
    `exec ${command.replace(/^curl/, 'curl --silent --show-error --include --no-buffer')}`,
  ], {
    env: { ...process.env, URL: endpoint.url, TOKEN: endpoint.token, NO_PROXY: '*' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const read = (chunk: unknown): void => {
    text += String(chunk);
    if (/\/v1\/events\b/.test(command) && text.includes('\r\n\r\n')) shell.kill();
  };
  shell.stdout.on('data', read);
  shell.stderr.on('data', read);
  await once(shell, 'close');
  return { status: /^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? '', text };
}

describe.skipIf(!hasCurl)('the commands of the documentation', async () => {
  const blocks = (await snippetsIn('sh')).filter(({ code }) => code.includes('curl '));

  it('are found', () => expect(blocks.length).toBeGreaterThan(3));

  it.each(blocks)('of $page, line $line, do what they say', async ({ code }) => {
    for (const command of commandsOf(code)) {
      const { status, text } = await run(command);
      expect(['200', '201', '204'], `${command}\n${text}`).toContain(status);
    }
  });
});
