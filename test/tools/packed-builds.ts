/** Builds with the package: servers without optional packages, with each bundler, and declarations. Part of its smoke test. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { postgresPrograms, startPostgres } from './servers/postgres-server.ts';

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

const signedIn = { cookie: 'shop-session=ada', 'sec-fetch-site': 'same-origin' };

/** Asks the server of the tutorial at this port as a signed-in person. */
async function ask(port: number, text: string, { id = 'c1', cookie = signedIn.cookie } = {}): Promise<Response> {
  return await fetch(`http://127.0.0.1:${port}/v1/agents/helper/chat`, {
    method: 'POST',
    headers: { ...signedIn, cookie, 'content-type': 'application/json' },
    body: JSON.stringify({
      id,
      messages: [{ id: crypto.randomUUID(), role: 'user', parts: [{ type: 'text', text }] }],
    }),
  });
}

/** Starts a file of the tutorial. The server answers at the port when this resolves. */
async function startFile(name: string, folder: string, env: NodeJS.ProcessEnv): Promise<ChildProcess> {
  const { PATH } = process.env;
  const started = spawn('node', [name], {
    cwd: folder,
    env: { PATH, PINNACE_SECRET_STOCK_KEY: 'stock-key-1234', ...env },
    stdio: 'inherit',
  });
  for (let tries = 0; env['PORT'] !== undefined && tries < 200; tries++) {
    if (await fetch(`http://127.0.0.1:${env['PORT']}/v1/healthz`).then(({ ok }) => ok, () => false)) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return started;
}

/** Runs the files of the tutorial as it says, and asks what it says. @throws where an answer is another one. */
export async function checkTutorial(folder: string, ports: readonly [number, number]): Promise<void> {
  const page = readFileSync(join(root, 'docs/tutorial.md'), 'utf8');
  for (const [, name = '', code = ''] of page.matchAll(/```tsx\n\/\/ ([\w.]+)\n([\s\S]*?)```/g)) {
    writeFileSync(join(folder, name), code);
  }
  const [port] = ports;
  const stock = await startFile('stock.ts', folder, {});
  const server = await startFile('server.ts', folder, { PORT: String(port) }); // without a database, as its first start
  try {
    const questions: readonly (readonly [text: string, cookie: string | undefined, answer: string])[] = [
      ['/stock_find {"item": "rope"}', undefined, '"left":7'],
      ['/retrieve {"query": "return"}', undefined, '"type":"data-sources"'],
      ['/order_cancel {"order": "o1"}', undefined, '"state":"awaiting_approval"'],
      ['Hello', 'none=1', '"code":"authentication_required"'],
    ];
    for (const [text, cookie, answer] of questions) {
      const stream = await (await ask(port, text, { cookie })).text();
      if (!stream.includes(answer)) throw new Error(`The tutorial answers to ${text}: ${stream}`);
    }
    server.kill();
    await once(server, 'exit');
    if (postgresPrograms !== undefined) await checkTwoInstances(folder, ports);
  } finally {
    stock.kill();
    server.kill();
  }
}

/** Kills one of two instances in the middle of an answer, and reads on at the other. */
async function checkTwoInstances(folder: string, ports: readonly [number, number]): Promise<void> {
  const database = await startPostgres();
  const env = {
    DATABASE_URL: 'postgres:///postgres',
    PGHOST: dirname(database.socket),
    PGUSER: 'pinnace',
    NODE_ENV: 'production',
  };
  const [first, second] = await Promise.all(
    ports.map((port) => startFile('server.ts', folder, { ...env, PORT: String(port) })),
  );
  try {
    const answer = (await ask(ports[0], 'Write 300 words about tides', { id: 'c2' })).body!.pipeThrough(
      new TextDecoderStream(),
    );
    let before = '';
    const reader = answer.getReader();
    while (!before.includes('text-delta')) before += (await reader.read()).value ?? '';
    first?.kill('SIGKILL');
    const rest = await fetch(`http://127.0.0.1:${ports[1]}/v1/agents/helper/chat/c2/stream`, { headers: signedIn });
    const stream = await rest.text();
    if (!stream.includes('"type":"data-recovery"') || !stream.includes('"state":"completed"')) {
      throw new Error(`The other instance answers ${rest.status}: ${stream.slice(-1000)}`);
    }
  } finally {
    first?.kill('SIGKILL');
    second?.kill('SIGKILL');
    await database.stop();
  }
}

function run(args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync('node', args, { cwd, encoding: 'utf8', timeout: 120_000 });
  if (status === 0) return stdout;
  throw new Error(`node ${args.join(' ')} failed:\n${stdout}${stderr}`);
}
