import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runRequest } from '../../fixtures/runtime.ts';
import { longChat, smallWindow } from '../../src/runtime/context/long-chat.ts';
import { type EndpointProcess, startEndpoint } from '../../tools/servers/endpoint.ts';

let folder: string;
const started: EndpointProcess[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pinnace-compaction-'));
  await writeFile(join(folder, 'agent.json'), JSON.stringify(smallWindow));
});
afterAll(async () => {
  await Promise.all(started.map((endpoint) => endpoint.stop('SIGKILL')));
  await rm(folder, { recursive: true, force: true });
});

async function start(env: Record<string, string>): Promise<EndpointProcess> {
  const endpoint = await startEndpoint({
    script: 'test/fixtures/processes/crash-server.ts',
    env: {
      PINNACE_KV: join(folder, 'state.kv'),
      CRASH_EFFECTS: join(folder, 'effects'),
      CRASH_AGENT: join(folder, 'agent.json'),
      ...env,
    },
    permissions: [`--allow-read=${folder}`, `--allow-write=${folder}`, '--allow-run'],
  });
  started.push(endpoint);
  return endpoint;
}

/** Sends the long chat with this idempotency key. */
async function post({ url, token }: EndpointProcess, key: string): Promise<Response> {
  return await fetch(`${url}/v1/runs`, {
    method: 'POST',
    body: JSON.stringify(runRequest({ chat: { id: 'c', messages: longChat(20) } })),
    headers: {
      'authorization': `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': `"the-key-of-the-${key}-run"`,
    },
  });
}

/** Returns what came until the end, or until the process was killed. */
async function send(endpoint: EndpointProcess, key: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    let response = await post(endpoint, key);
    while (response.status === 409) response = await post(endpoint, key); // another process seems to have it
    for await (const bytes of response.body ?? []) text += decoder.decode(bytes, { stream: true });
  } catch {
    // The process was killed.
  }
  return text;
}

it('a run whose process is killed while it summarizes is continued, and summarized by the next process', async () => {
  const [doomed, survivor] = await Promise.all([
    start({ CRASH_IN_SUMMARY: 'yes' }),
    start({}),
  ]);
  const cut = await send(doomed, 'first');
  expect(cut).not.toContain('"finish"');
  const whole = await send(survivor, 'first');
  expect(whole.startsWith(cut)).toBe(true);
  expect(whole.match(/"type":"data-compaction"/g)).toHaveLength(1);
  expect(whole).toContain('"summary":"Summarized"');
  expect(whole).toContain('Hello');
  expect(await send(survivor, 'first')).toBe(whole);
});
