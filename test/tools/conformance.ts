/** Runs scenarios of the MCP project's conformance suite against our client, on Deno. */

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';

const root = join(import.meta.dirname, '../..');

/** What came of a scenario. */
export interface Verdict {
  readonly passed: boolean;
  /** What the suite and the client have printed. */
  readonly report: string;
}

/** What is run: the connector or a whole runtime, a scenario, and the revision that the suite's server speaks. */
export interface ClientScenario {
  readonly driver: 'connector' | 'runtime';
  readonly scenario: string;
  readonly revision: string;
}

export function runClientScenario({ driver, scenario, revision }: ClientScenario): Promise<Verdict> {
  const bin = join(root, 'node_modules/.bin');
  const file = driver === 'runtime' ? 'conformance-runtime-client.ts' : 'conformance-client.ts';
  const client = `${join(bin, 'deno')} run -A test/fixtures/mcp/${file}`;
  const args = ['client', '--command', client, '--scenario', scenario, '--spec-version', revision];
  const env = { ...process.env, NODE_OPTIONS: `--import=${join(root, 'test/tools/loopback.ts')}` };
  const suite = join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
  return new Promise((resolve) => {
    execFile(join(bin, 'node'), [suite, ...args], { cwd: root, env, timeout: 50_000 }, (error, stdout, stderr) => {
      resolve({ passed: error === null, report: `${stdout}\n${stderr}` });
    });
  });
}

/** Those of tools, for a client without authorization and without capabilities. */
const scenarios: Readonly<Record<string, readonly string[]>> = {
  '2025-11-25': ['initialize', 'tools_call', 'sse-retry', 'json-schema-2020-12-preservation'],
  '2026-07-28': [
    'tools_call',
    'request-metadata',
    'http-standard-headers',
    'http-custom-headers',
    'http-invalid-tool-headers',
    'json-schema-ref-no-deref',
    'json-schema-2020-12-preservation',
  ],
};

/** Returns the scenarios that a revision requires of clients, as the suite has frozen them at its release. */
export async function requiredOfClients(revision: string): Promise<readonly string[]> {
  const path = `node_modules/@modelcontextprotocol/conformance/requirements/${revision}.yaml`;
  const text = await readFile(join(root, path), 'utf8');
  const [, list = ''] = /^client:\n((?: {2}- .+\n)+)/m.exec(text) ?? [];
  return list.split('\n').flatMap((line) => line.startsWith('  - ') ? [line.slice('  - '.length).trim()] : []);
}

/** Returns the scenarios of a revision that need no sign-in and no answers. */
export function clientScenarios(revision: string): readonly string[] {
  return scenarios[revision] ?? [];
}
