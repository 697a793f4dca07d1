import { execFile } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** Imports a file where a feature is missing, as on Node 20, and returns the error. */
async function importWithout(feature: string, file: string): Promise<string> {
  const code = `${feature}; await import(${JSON.stringify(join(root, file))}).then(() => console.log('imported'), ` +
    `(error) => console.log(error.message));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code]);
  return stdout.trim();
}

it.each([
  ['delete Promise.withResolvers', 'src/index.ts'],
  ['delete Set.prototype.union', 'adapters/models/rehearsal.ts'],
])('names the platforms that have what the code uses: %s, %s', async (feature, file) => {
  expect(await importWithout(feature, file)).toMatch(/^Pinnace needs Node 22, .*: this platform lacks .*union$/);
  expect(await importWithout('', file)).toBe('imported');
});
