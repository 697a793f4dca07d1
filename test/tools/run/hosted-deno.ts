/** The Deno of the hosted platform: an older version than the one of this project, from the npm registry. */

import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

export const hostedVersion = '2.5.7';

const folder = join(import.meta.dirname, `../../../node_modules/.cache/deno-${hostedVersion}`);
const installMs = 60_000;

/** Returns the path of the program, which is installed once; `undefined` where the registry cannot be reached or has none for this machine. */
export function hostedDeno(): string | undefined {
  const found = findProgram();
  if (found !== undefined) return found;
  mkdirSync(folder, { recursive: true });
  const args = ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--silent'];
  spawnSync('npm', [...args, `deno@${hostedVersion}`], {
    timeout: installMs,
    shell: process.platform === 'win32',
  });
  return findProgram();
}

function findProgram(): string | undefined {
  return globSync(join(folder, 'node_modules/@deno/*/deno{,.exe}'))[0];
}
