/** Runs the MCP project's conformance suite against a server, and reads what it found. */

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from './run-command.ts';

export interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}

export async function runServerScenarios(
  url: string,
  revision: string,
): Promise<ReadonlyMap<string, readonly Check[]>> {
  const out = await mkdtemp(join(tmpdir(), 'pinnace-conformance-'));
  try {
    await runCommand('conformance', ['server', '--url', url, '--requirements', revision, '-o', out]);
    const runs = await readdir(out);
    return new Map(
      await Promise.all(runs.map(async (run) => {
        const scenario = run.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '');
        return [scenario, JSON.parse(await readFile(join(out, run, 'checks.json'), 'utf8')) as Check[]] as const;
      })),
    );
  } finally {
    await rm(out, { recursive: true });
  }
}

/** The scenarios of a server that the suite requires for a revision, as its frozen list has them. */
export async function requiredServerScenarios(revision: string): Promise<readonly string[]> {
  const { stdout } = await runCommand('conformance', ['list', '--requirements', revision]);
  const [, own = ''] = /Server scenarios[^\n]*\n((?: {2}- [^\n]+\n)+)/.exec(stdout) ?? [];
  return own.split('\n').filter((line) => line !== '').map((line) => line.slice(4));
}

/** A check of the transport alone, which says nothing of what a scenario is about. */
const ofTheWire: ReadonlySet<string> = new Set(['wire-schema-valid']);

/** Checks that the suite skips for a server that does not declare the optional capability `listChanged`. */
const notOffered: ReadonlySet<string> = new Set([
  'sep-2575-server-sends-prompts-list-changed-on-subscription',
  'sep-2575-server-sends-tools-list-changed-on-subscription',
]);

/** Returns why a scenario does not count as passed; empty when it does. A warning, a skipped check and no check at all do not. */
export function faultsOf(checks: readonly Check[] | undefined): readonly string[] {
  if (!checks) return ['the scenario did not run'];
  const bad = checks.filter(({ id, status }) => !(status === 'SKIPPED' && notOffered.has(id)))
    .filter(({ status }) => status !== 'SUCCESS' && status !== 'INFO')
    .map(({ id, status, errorMessage = '' }) => `${status} ${id}: ${errorMessage}`);
  const good = checks.filter(({ id, status }) => status === 'SUCCESS' && !ofTheWire.has(id));
  return good.length > 0 ? bad : [...bad, 'no check has passed'];
}
