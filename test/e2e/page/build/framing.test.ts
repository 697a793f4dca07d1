import { createServer } from 'node:http';
import { describe, expect, inject, it } from 'vitest';
import { usePlayground } from '../../../tools/browsers/playground.ts';
import { closeServer, listen } from '../../../tools/servers/http-server.ts';

const { open } = usePlayground();

describe('the built page', () => {
  it('is shown in no frame of another origin, on the same machine neither', async () => {
    const { page } = await open();
    const other = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(`<!doctype html><iframe src="${inject('playground')}"></iframe>`);
    });
    const url = await listen(other);
    try {
      await page.goto(url);
      await expect.poll(() => page.frames().at(1)?.url()).toMatch(/^chrome-error:/);
      expect(await page.frames().at(1)?.locator('[data-testid]').count()).toBe(0);
    } finally {
      await closeServer(other);
    }
  });

  it('cannot open a connection of another protocol than http', async () => {
    const { page } = await open();
    const blocked = await page.evaluate(() =>
      new Promise<string>((resolve) => {
        document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => resolve(effectiveDirective));
        try {
          new WebSocket('ws://127.0.0.1:9/').addEventListener('error', () => setTimeout(resolve, 500, 'none'));
        } catch {
          // the event says it
        }
      })
    );
    expect(blocked).toBe('connect-src');
  });
});
