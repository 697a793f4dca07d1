import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import type { HostedResult } from '../fixtures/processes/hosted-deno-worker.ts';
import { hostedDeno, hostedVersion } from '../tools/run/hosted-deno.ts';

const program = join(import.meta.dirname, '../fixtures/processes/hosted-deno-worker.ts');
const deno = hostedDeno();
if (deno === undefined) console.warn(`Skipped: deno@${hostedVersion} cannot be installed from the npm registry`);

describe.skipIf(deno === undefined)(`Deno ${hostedVersion}, which the hosted platform runs`, () => {
  let result: HostedResult;

  beforeAll(async () => {
    const args = ['run', '-A', '--unstable-kv', '--no-check', program];
    const { stdout } = await promisify(execFile)(deno ?? '', args, { maxBuffer: 10_000_000 });
    result = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as HostedResult; // the program printed it
  });

  it('keeps the contract of a storage in Deno KV', () => {
    expect(result.deno).toBe(hostedVersion);
    expect(result.checks).toBeGreaterThan(50);
    expect(result.failed).toEqual([]);
  });

  it('serves health, readiness, and a run with a tool call', () => {
    expect(result.health).toBe(200);
    expect(result.ready).toMatchObject({ status: 'ok', capabilities: { kv: true, sandbox: true } });
    expect(result.stream).toContain('6 * 7 = 42');
    expect(result.stream).toContain('"type":"finish"');
  });

  it('reports that HTTP tools are refused, because this version does not let the egress check addresses', () => {
    expect(result.ready).toMatchObject({ capabilities: { pinnedEgress: false } });
  });
});
