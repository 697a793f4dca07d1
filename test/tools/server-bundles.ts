/** Bundles a server that has no optional package, with each bundler, and starts it. Part of the smoke test of the package. */

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '../..');

/** What the started server prints: two answers, and what to install for MCP. */
const expected =
  '200 404 The package "@modelcontextprotocol/client" is not installed: run `npm install @modelcontextprotocol/client`';

/** Rolldown is in this checkout. Without a network and a cache, the others are not tested. */
const bundlers = [
  'esbuild@0.28.2',
  'webpack@5',
  'rollup@4',
  '@rollup/plugin-node-resolve@16',
  '@rollup/plugin-commonjs@29',
  '@rollup/plugin-json@6',
];
const rolldown = pathToFileURL(join(root, 'node_modules/rolldown/dist/index.mjs')).href;

interface Program {
  readonly code: string;
  readonly outputs: readonly string[];
}

const programs: Readonly<Record<string, Program>> = {
  rolldown: {
    code: `
import { rolldown } from '${rolldown}';
const bundle = await rolldown({ input: 'server.js', platform: 'node', logLevel: 'silent' });
await bundle.write({ dir: 'out/rolldown', format: 'es' });`,
    outputs: ['out/rolldown/server.js'],
  },
  esbuild: {
    code: `
import { build } from 'esbuild';
const shared = { entryPoints: ['server.js'], bundle: true, platform: 'node', logLevel: 'error' };
await build({ ...shared, format: 'cjs', outfile: 'out/esbuild/server.cjs' });
await build({ ...shared, format: 'esm', outfile: 'out/esbuild/server.mjs' });`,
    outputs: ['out/esbuild/server.cjs', 'out/esbuild/server.mjs'],
  },
  webpack: {
    code: `
import webpack from 'webpack';
const path = process.cwd() + '/out/webpack';
const options = { mode: 'production', target: 'node', entry: './server.js', output: { path, filename: 'server.cjs' } };
webpack({ ...options, optimization: { minimize: false } }, (error, stats) => {
  if (!error && !stats.hasErrors()) return;
  console.error(error ?? stats.toString({ all: false, errors: true }));
  process.exitCode = 1;
});`,
    outputs: ['out/webpack/server.cjs'],
  },
  rollup: {
    code: `
import { rollup } from 'rollup';
import resolve from '@rollup/plugin-node-resolve';
import commonjs from '@rollup/plugin-commonjs';
import json from '@rollup/plugin-json';
const plugins = [resolve({ exportConditions: ['node'] }), commonjs(), json()];
const bundle = await rollup({ input: 'server.js', plugins, onwarn: () => {} });
await bundle.write({ dir: 'out/rollup', format: 'es' });`,
    outputs: ['out/rollup/server.js'],
  },
};

/** Bundles and starts the server in a folder that has the package installed. Returns a line for the log. @throws what failed. */
export function checkServerBundles(folder: string): string {
  const source = readFileSync(join(root, 'test/fixtures/bundles/server.ts'), 'utf8');
  writeFileSync(join(folder, 'server.js'), stripTypeScriptTypes(source));
  const tools = join(folder, 'bundlers');
  mkdirSync(tools);
  const options = ['--no-audit', '--no-fund', '--prefer-offline', '--no-package-lock', `--prefix=${tools}`];
  const { status } = spawnSync('npm', ['install', ...options, ...bundlers], { cwd: tools });
  const names = status === 0 ? Object.keys(programs) : ['rolldown'];
  for (const name of names) {
    const { code, outputs } = programs[name] ?? { code: '', outputs: [] };
    writeFileSync(join(tools, `${name}.mjs`), code);
    run([`bundlers/${name}.mjs`], folder);
    for (const output of outputs) {
      const printed = run([output], folder).trim();
      if (printed !== expected) throw new Error(`The bundle ${output} printed: ${printed}`);
    }
  }
  return `ok as a bundle of ${names.join(', ')}${status === 0 ? '' : '; the other bundlers cannot be installed'}`;
}

function run(args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync('node', args, { cwd, encoding: 'utf8', timeout: 120_000 });
  if (status === 0) return stdout;
  throw new Error(`node ${args.join(' ')} failed:\n${stdout}${stderr}`);
}
