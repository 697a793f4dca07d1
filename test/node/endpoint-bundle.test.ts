import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleEndpoint } from '../../demo/development/bundle-endpoint.ts';

let folder: string;
/** The code that a start loads: the entry and what it imports statically. */
let started: string;

async function readStatic(file: string, known = new Set<string>()): Promise<string> {
  if (known.has(file)) return '';
  known.add(file);
  const text = await readFile(file, 'utf8');
  const imports = [...text.matchAll(/(?:\bfrom|\bimport)\s*["'](\.[^"']+)["']/g)];
  let all = text;
  for (const [, path = ''] of imports) all += await readStatic(join(dirname(file), path), known);
  return all;
}

describe('the bundle of the endpoint', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pinnace-bundle-'));
    await bundleEndpoint(join(folder, 'endpoint.js'));
    started = await readStatic(join(folder, 'endpoint.js'));
  }, 120_000);
  afterAll(() => rm(folder, { recursive: true }));

  it('loads no MCP library, no planner and no module of Node at its start', () => {
    expect(started).toContain('/v1/healthz');
    expect(started).not.toContain('notifications/tools/list_changed');
    expect(started).not.toMatch(/(?:\bfrom|\bimport)\s*["']node:/);
    expect(started).not.toContain('The look-up was called');
  });

  it('starts with less than 910 kB of code', () => {
    expect(started.length).toBeGreaterThan(100_000);
    expect(started.length).toBeLessThan(910_000);
  });
});
