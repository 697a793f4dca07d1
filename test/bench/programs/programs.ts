/** What programs cost on Deno, in time and in tokens, and what recorded inputs, labels and handles cost. */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';

for (const part of ['speed.ts', 'tokens.ts']) {
  const { status } = spawnSync('deno', ['run', '-A', '--no-check', join(import.meta.dirname, part)], {
    stdio: 'inherit',
    cwd: join(import.meta.dirname, '../../..'),
  });
  if (status !== 0) process.exit(1);
}

await import('./keep.ts');
await import('./labels.ts');
