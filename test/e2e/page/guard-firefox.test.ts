/** Programs of guarded agents in the cells of the system's Firefox: the same random programs as in Chromium, Deno and Node. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { alias, packageAlias } from '../../../demo/alias.ts';
import { firefoxPath, launchFirefox } from '../../tools/browsers/firefox.ts';

const entry = join(import.meta.dirname, '../../fixtures/sandbox/check-in-page.ts');

describe.skipIf(!firefoxPath)('handles in Firefox', () => {
  let script = '';
  const server = createServer((request, response) => {
    const isScript = request.url === '/check.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? script : '<!doctype html><script type="module" src="/check.js"></script>');
  });

  beforeAll(async () => {
    const built = await build({
      configFile: false,
      logLevel: 'error',
      resolve: { alias: [...alias, ...packageAlias] },
      build: {
        write: false,
        minify: false,
        lib: { entry, formats: ['es'], fileName: 'check' },
        rolldownOptions: { output: { codeSplitting: false } },
      },
    });
    const outputs = (Array.isArray(built) ? built : [built]).flatMap((one) => 'output' in one ? one.output : []);
    script = outputs.map((one) => 'code' in one ? one.code : '').join('\n');
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  afterAll(() => {
    server.close();
  });

  it('makes the same calls whatever strangers have written', async () => {
    const browser = await launchFirefox();
    try {
      const page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      await page.waitForFunction(() => 'check' in window);
      const found = await page.evaluate(async () => {
        const { check } = window as unknown as { readonly check: (seeds: number) => Promise<string | undefined> }; // the script's
        return await check(1_000);
      });
      expect(found ?? 'nothing').toBe('nothing');
    } finally {
      await browser.close();
    }
  }, 240_000);
});
