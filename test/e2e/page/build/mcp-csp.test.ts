import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { chromium as browserType } from 'playwright';
import { expect, it } from 'vitest';
import { headerPolicy } from '../../../../demo/csp.ts';
import type { Tour } from '../../../fixtures/mcp/everything.ts';
import { chromium } from '../../../tools/browsers/chromium.ts';
import { oneFile } from '../../../tools/browsers/one-file.ts';
import { startEverythingServer } from '../../../tools/servers/everything-server.ts';
import { closeServer, listen } from '../../../tools/servers/http-server.ts';

const worker = join(import.meta.dirname, '../../../fixtures/mcp/mcp-worker.ts');

const page = `
  const trusted = trustedTypes.createPolicy('pinnace', { createScriptURL: (url) => url });
  globalThis.tour = (url) => new Promise((resolve) => {
    const worker = new Worker(trusted.createScriptURL('/worker.js'), { type: 'module' });
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => resolve(message);
    worker.postMessage(url);
  });
  const compile = () => { try { new Function('return 1')(); return true; } catch { return false; } };
  globalThis.compiles = () => new Promise((resolve) => setTimeout(() => resolve(compile()))); // the evaluation itself is exempt
`;

it('the connectors keep to a strict Content-Security-Policy in a worker', async () => {
  const files: Readonly<Record<string, readonly [type: string, text: string]>> = {
    '/': ['text/html', '<!doctype html><script type="module" src="/page.js"></script>'],
    '/page.js': ['text/javascript', page],
    '/worker.js': ['text/javascript', await oneFile(worker)],
  };
  const reports: string[] = [];
  const answer: RequestListener = (request, response) => {
    const [type, text] = files[request.url ?? ''] ?? ['text/plain', ''];
    request.setEncoding('utf8').on('data', (chunk: string) => reports.push(chunk));
    response.writeHead(200, { 'content-type': type, 'content-security-policy': `${headerPolicy}; report-uri /report` });
    response.end(text);
  };
  const site = createServer(answer);
  const [url, everything, browser] = await Promise.all([
    listen(site),
    startEverythingServer(),
    browserType.launch(chromium),
  ]);
  try {
    const tab = await browser.newPage();
    await tab.goto(url);
    const run = (address: string) =>
      (globalThis as unknown as { tour: (url: string) => Promise<Tour[]> }).tour(address);
    const tours = await tab.evaluate(run, everything.url);
    expect(tours.map(({ names }) => names.length)).toEqual([13, 13]);
    expect(reports).toEqual([]);
    // The policy is in force, and its reports arrive.
    expect(await tab.evaluate('compiles()')).toBe(false);
    await expect.poll(() => reports.length).toBe(1);
  } finally {
    await browser.close();
    await Promise.all([closeServer(site), everything.close()]);
  }
}, 120_000);
