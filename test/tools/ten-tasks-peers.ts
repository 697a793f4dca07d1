/** Checks and runs the ten tasks of other libraries in a folder that is removed afterwards: `node test/tools/ten-tasks-peers.ts`. */

import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

const folder = mkdtempSync(join(tmpdir(), 'pinnace-peers-'));
cpSync(join(import.meta.dirname, '../../demo/examples/tasks/peers'), folder, { recursive: true });
const commands = [['install', '--no-audit', '--no-fund', '--ignore-scripts'], ['test']] as const;
const failed = commands.find((args) => spawnSync('npm', args, { cwd: folder, stdio: 'inherit' }).status !== 0);
rmSync(folder, { recursive: true });
process.exit(failed ? 1 : 0);
