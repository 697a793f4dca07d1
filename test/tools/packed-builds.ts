/** Builds with the package: servers without optional packages, with each bundler, and declarations. Part of its smoke test. */

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

/** Prints the names of the functions of each entry, but for the one whose parameters TypeScript cannot spread. */
const listing = (entries: readonly string[]): string => `
const found = {};
for (const name of ${JSON.stringify(entries)}) {
  found[name] = Object.entries(await import(name)).filter(([key, value]) =>
    key !== 'fakeModel' && typeof value === 'function' && !/^class\\b/.test(Function.prototype.toString.call(value))).map(([key]) => key);
}
console.log(JSON.stringify(found));
`;

/** Each entry is a program of its own: TypeScript takes the name of a type from any module of the program. */
export function checkDeclarations(folder: string, entries: readonly string[]): void {
  writeFileSync(join(folder, 'functions.mjs'), listing(entries));
  const functions = JSON.parse(run(['functions.mjs'], folder)) as Readonly<Record<string, readonly string[]>>; // as listed
  const compilerOptions = {
    composite: true,
    module: 'nodenext',
    target: 'es2024',
    lib: ['esnext', 'dom', 'dom.iterable', 'dom.asynciterable'],
    types: ['deno', 'node'],
    strict: true,
    skipLibCheck: true,
    rootDir: '.',
    outDir: 'out',
  };
  const references = Object.entries(functions).filter(([, names]) => names.length > 0).map(([entry, names], at) => {
    const path = `declarations/${at}`;
    const calls = names.map((name) =>
      `export const of_${name} = ${name}(...([] as unknown as Parameters<typeof ${name}>));`
    );
    mkdirSync(join(folder, path), { recursive: true });
    writeFileSync(
      join(folder, path, 'index.ts'),
      `import { ${names.join(', ')} } from '${entry}';\n${calls.join('\n')}\n`,
    );
    writeFileSync(join(folder, path, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['index.ts'] }));
    return { path: `./${at}` };
  });
  writeFileSync(join(folder, 'declarations/tsconfig.json'), JSON.stringify({ files: [], references }));
  run([join(root, 'node_modules/typescript/bin/tsc'), '-b', 'declarations'], folder);
}

function run(args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync('node', args, { cwd, encoding: 'utf8', timeout: 120_000 });
  if (status === 0) return stdout;
  throw new Error(`node ${args.join(' ')} failed:\n${stdout}${stderr}`);
}
