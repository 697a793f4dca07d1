/**
 * Audits the packages that are installed with this one, if the registry supports audits. Fails for a known vulnerability of high
 * severity. Reports a registry that does not answer or does not support audits, without failing.
 */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { type AuditVerdict, judgeAudit } from './audit-verdict.ts';

const root = join(import.meta.dirname, '../..');
/** Forces npm online: in offline mode it calls no registry and reports nothing. */
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
