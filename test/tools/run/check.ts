/** What `npm run check` does: everything that needs no test run, side by side. */

import { availableParallelism } from 'node:os';
import { type Job, reportJobs, runJobs } from './jobs.ts';
import { storeChecks } from './totals.ts';

const jobs: readonly Job[] = [
  { name: 'build', command: 'npm run build' },
  { name: 'types', command: 'tsc -p .' },
  { name: 'types of src without a platform', command: 'tsc -p tsconfig.src.json' },
  { name: 'lint', command: 'oxlint --type-aware' },
  { name: 'publish to JSR', command: 'deno publish --dry-run --allow-dirty --allow-slow-types --quiet' },
  { name: 'sizes', command: 'node test/tools/size.ts', after: 'build' },
  { name: 'package', command: 'node test/tools/pack.ts', after: 'build' },
  { name: 'publint', command: 'publint', after: 'build' },
  { name: 'unused code', command: 'knip' },
  { name: 'format', command: 'deno fmt --check --quiet' },
  { name: 'audit', command: 'node test/tools/audit.ts' },
];

const results = await runJobs(jobs, Math.max(2, availableParallelism()));
reportJobs(results);
storeChecks(results);
