/**
 * The audit of what is installed with the package, as far as the registry offers one: a known hole of high severity fails; a
 * registry that cannot be asked, or offers no audits, is said plainly and fails nothing.
 */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { type AuditVerdict, judgeAudit } from './audit-verdict.ts';

const root = join(import.meta.dirname, '../..');
/** Where npm is told to be offline, it asks nobody and reports nothing found: it has to try. */
const network = ['--offline=false', '--fetch-retries=0', '--fetch-timeout=20000'];
const args = ['audit', '--json', '--omit=dev', '--audit-level=high', ...network];
const { status, stdout, stderr, error } = spawnSync('npm', args, { cwd: root, encoding: 'utf8', timeout: 60_000 });
const verdict: AuditVerdict = error
  ? { state: 'not audited', why: error.message }
  : judgeAudit({ status, stdout, stderr });
switch (verdict.state) {
  case 'clean':
    console.log(`Audited ${verdict.packages} packages: nothing of high severity is known`);
    break;
  case 'not audited':
    console.log(`Not audited: ${verdict.why}`);
    break;
  case 'holes':
    console.error(`Known holes:\n${verdict.holes.map((hole) => `  ${hole}`).join('\n')}`);
    process.exit(1);
}
