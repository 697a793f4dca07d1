import { expect, inject, it } from 'vitest';

it('both MCP connectors reach a real server of another origin from a Web Worker', async () => {
  const worker = new Worker(new URL('../fixtures/mcp/mcp-worker.ts', import.meta.url), { type: 'module' });
  const { promise: tours, resolve, reject } = Promise.withResolvers<unknown>();
  worker.addEventListener('message', ({ data }) => resolve(data));
  worker.addEventListener('error', ({ message }) => reject(new Error(message)));
  worker.postMessage(inject('peers').everything);
  const tour = {
    server: 'mcp-servers/everything',
    results: { 'get-sum': { content: [{ text: 'The sum of 2 and 3 is 5.' }] } },
    progress: [1, 2],
  };
  expect(await tours).toMatchObject([tour, tour]);
  worker.terminate();
});
