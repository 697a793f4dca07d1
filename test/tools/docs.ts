/** The API reference: every entry of the package, out of its docstrings, as pages in `dist-docs/`. */

import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

const root = join(import.meta.dirname, '../..');
const { exports } = JSON.parse(readFileSync(join(root, 'deno.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, string>>;
};
const output = join(root, 'dist-docs');
rmSync(output, { recursive: true, force: true });
const args = ['doc', '--html', '--name=Pinnace', `--output=${output}`, ...Object.values(exports)];
const { status } = spawnSync('deno', args, { cwd: root, stdio: 'inherit' });
process.exit(status ?? 1);
