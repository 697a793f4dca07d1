/**
 * The smoke test of the package: packs it, puts it into an empty folder as npm would, beside what it depends on and nothing else,
 * and uses it there under Node, under Deno and with TypeScript. Needs `dist/`, and a network for the oldest TypeScript alone.
 */

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { checkDeclarations, checkServerBundles } from './packed-builds.ts';
import { checkTutorial } from './packed-tutorial.ts';
import { freePort } from './servers/http-server.ts';
import { publicValues, undocumentedFields, undocumentedNames, undocumentedOptions } from './docstrings.ts';
import { snippetsIn } from './snippets.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'pinnace-pack-'));
const installed = join(folder, 'node_modules');

/** One turn: the Group Controller of the examples calls the endpoint of the examples. */
const turn = `
import { askAgent, openIssuer } from './group-controller.ts';
const issuer = await openIssuer();
Deno.env.set('ISSUERS', JSON.stringify([issuer.trusted]));
Deno.env.set('AUTHORITIES', 'agents.example');
Deno.env.set('KV_PATH', ':memory:');
const { default: { fetch } } = await import('./deno-endpoint.ts');
const text = '/cabin_find {"cabin": "1"}';
console.log(await askAgent({ issuer, url: 'https://agents.example', tenant: 't1', text, onText: () => {}, fetch }));
Deno.exit(0);
`;

interface Manifest {
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
}

/** The entries that are a layer over an optional package: without it, importing them fails and names it. */
const layers: Readonly<Record<string, string>> = {
  'pinnace/react': 'react',
  'pinnace/sinks/otel': '@opentelemetry/api',
  'pinnace/sinks/otel-metrics': '@opentelemetry/api',
  'pinnace/transport/mcp-server-connection': '@modelcontextprotocol/sdk',
};

/** Without optional packages: the entries that need none, the errors of the others, and a connector that says what to install. */
const withoutOptional = (entries: readonly string[]): string => `
for (const name of ${JSON.stringify(entries.filter((name) => !(name in layers)))}) await import(name);
for (const [name, needed] of Object.entries(${JSON.stringify(layers)})) {
  const error = await import(name).then(() => 'imported', ({ message }) => message);
  if (!error.includes(needed)) throw new Error(name + ' does not name ' + needed + ': ' + error);
}
const { mcpConnector } = await import('pinnace/mcp/client');
const { createRegistry, localPrincipal } = await import('pinnace');
const { memoryStorage } = await import('pinnace/storage/memory');
const egress = { fetch: () => Promise.reject(new Error('no network')) };
const server = { id: 'm', name: 'm', url: 'https://mcp.example/', transport: 'streamable-http' };
const error = await mcpConnector({ egress }).connect(server, { signal: AbortSignal.timeout(5000) }).then(() => ({}), (thrown) => thrown);
if (error.details?.reason !== 'package_missing' || !error.message.includes('npm install @modelcontextprotocol/client')) {
  throw new Error('The connector does not say what to install: ' + error.message);
}
await createRegistry({ storage: memoryStorage() }).agents.list({}, localPrincipal());
console.log('all');
`;

/** A server on Node without `ai`: it answers a client, and its types are checked as apps do. */
const withoutAi = `
import { createGrounding } from 'pinnace';
import { staticCatalog } from 'pinnace/catalog/static';
import { createEmbedder } from 'pinnace/grounding/embedder';
import { textSource } from 'pinnace/grounding/text';
import { rehearsal } from 'pinnace/models/rehearsal';
import { createNodeEndpoint } from 'pinnace/node';
import { memoryStorage } from 'pinnace/storage/memory';
import { createClient } from 'pinnace/transport/client';
import { sessionAuthenticator } from 'pinnace/transport/session-authenticator';

const endpoint = await createNodeEndpoint({
  catalog: staticCatalog({
    agents: [{ id: 'helper', name: 'Helper', providerId: 'main', entryTools: ['calculator'] }],
    providers: [{ id: 'main', kind: 'rehearsal' }],
  }),
  storage: memoryStorage(),
  models: { model: () => rehearsal({ delayMs: 0 }) },
  grounding: createGrounding({ sources: [textSource({ id: 'notes', storage: memoryStorage() })] }),
  authenticator: () =>
    sessionAuthenticator({ lookup: () => ({ tenant: 't', subject: 'ada', agents: '*', scopes: ['run:create'] }) }),
  sinks: [],
  exitOnStop: false,
});
const client = createClient({
  url: 'https://agents.example',
  agentId: 'helper',
  credentials: { cookies: true },
  headers: { origin: 'https://agents.example' },
  fetch: async (request) => await endpoint.handler(request),
});
const messages = [{ id: 'm', role: 'user' as const, parts: [{ type: 'text' as const, text: 'What is 6 * 7?' }] }];
const chunks = await Array.fromAsync(await client.run({ agentId: 'helper', chat: { id: 'c', messages } }));
await endpoint.close({ drainMs: 0 });
console.log(typeof createEmbedder, JSON.stringify(chunks).includes('42') ? 'answered' : JSON.stringify(chunks));
`;

/** Runs a command in a folder, and returns its output. Exits if it fails. */
function run(command: string, args: readonly string[], cwd = folder): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status === 0) return stdout;
  return fail(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`);
}

function fail(why: string): never {
  rmSync(folder, { recursive: true, force: true });
  console.error(why);
  process.exit(1);
}

const importsSource = /^(?!\s*(?:\*|\/\/)).*\b(?:import\(|from )['"]\.{1,2}\/[^'"]+\.ts['"]/m;

/** Nothing but what is used there. */
function checkContents(paths: readonly string[], { bin, exports }: Manifest): void {
  const wanted =
    /^(?:package\.json|LICENSE|(?:README|CHANGELOG|SECURITY)\.md|docs\/[\w-]+\.md|demo\/examples\/.+|demo\/grafana-dashboard\.json|dist\/(?:src|adapters|chunks|test\/contracts)\/.+\.(?:js|d\.ts(?:\.map)?)|dist\/sources\/.+\.ts)$/;
  const others = paths.filter((path) => !wanted.test(path));
  if (others.length > 0) fail(`The package has unexpected files: ${others.slice(0, 5).join(', ')}`);
  const broken = paths.filter((path) =>
    path.endsWith('.js') && importsSource.test(readFileSync(join(root, path), 'utf8'))
  );
  if (broken.length > 0) fail(`The package imports files that it does not contain: ${broken.join(', ')}`);
  const missing = Object.values(exports).filter((path) => !paths.includes(path.slice(2)));
  if (missing.length > 0) fail(`The package lacks what it exports: ${missing.join(', ')}`);
  const commands = Object.values(bin).filter((path) => !readFileSync(join(root, path), 'utf8').startsWith('#!'));
  if (commands.length > 0) fail(`The package has commands that no shell can run: ${commands.join(', ')}`);
}

/** What `docs/README.md` says is in the repository alone. */
const inRepositoryAlone =
  /^(?:src|adapters|test|demo(?!\/examples(?!\/tasks\/peers)|\/grafana-dashboard\.json)|docs\/pictures|docs\/(?:screens|figures)\.md|CONTRIBUTING\.md)(?:\/|$)/;

/** For a reader who has the package alone: a page leads to what is packed, or to what is said to be elsewhere. */
function checkLinks(paths: readonly string[]): void {
  const packed = new Set(
    paths.flatMap((path) => [path, ...path.split('/').map((_, at, all) => all.slice(0, at).join('/'))]),
  );
  const broken = paths.filter((path) => path === 'README.md' || path.startsWith('docs/')).flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8');
    const links = [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)[^)]*\)/g)].map(([, to = '']) =>
      join(dirname(page), to)
    );
    const named = [...text.matchAll(/`((?:src|adapters|demo|test|docs)\/[\w./-]+)`/g)].map(([, path = '']) =>
      path.replace(/\/$/, '')
    );
    return [...links, ...named].filter((to) => !packed.has(to) && !inRepositoryAlone.test(to)).map((to) =>
      `${page} -> ${to}`
    );
  });
  if (broken.length > 0) fail(`Pages lead to files that the package does not have: ${broken.join(', ')}`);
}

/** What `npm install` would do: the tarball, and links to its dependencies. */
function install(): Manifest {
  const [packed] = JSON.parse(
    run('npm', ['pack', '--json', '--ignore-scripts', `--pack-destination=${folder}`], root),
  ) as [
    { readonly filename: string; readonly size: number; readonly files: readonly { readonly path: string }[] },
  ];
  mkdirSync(join(installed, 'pinnace'), { recursive: true });
  run('tar', ['-xzf', packed.filename, '-C', join(installed, 'pinnace'), '--strip-components=1']);
  const manifest = JSON.parse(readFileSync(join(installed, 'pinnace/package.json'), 'utf8')) as Manifest;
  checkContents(packed.files.map(({ path }) => path), manifest);
  checkLinks(packed.files.map(({ path }) => path));
  const required = Object.keys(manifest.peerDependencies).filter((name) => !isOptional(manifest, name));
  for (const name of [...Object.keys(manifest.dependencies), ...required, '@types/deno', '@types/node']) link(name);
  console.log(`${packed.files.length} files, ${Math.round(packed.size / 1000)} kB packed`);
  return manifest;
}

function isOptional({ peerDependenciesMeta }: Manifest, name: string): boolean {
  return peerDependenciesMeta[name]?.optional === true;
}

/** Puts a package of this checkout into the folder, under its own or another name. */
function link(name: string, from = name): void {
  const path = join(installed, name);
  rmSync(path, { force: true });
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(join(root, 'node_modules', from), path, 'dir');
}

interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

const mostPackages = 60;
/** Of 1,000,000 bytes of files: the package, and all that `npm install pinnace` brings. */
const mostMegabytes = { own: 6.7, whole: 24.9 };

/** `npm install pinnace` installs the dependencies, the required peers, and what these need. */
function checkCount(manifest: Manifest): void {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, Locked>>;
  };
  const found = new Set<string>();
  const visit = (
    from: string,
    { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} }: Locked,
  ): void => {
    const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true);
    for (const name of [...Object.keys(dependencies), ...peers]) {
      const path = `${from}/node_modules/${name}`.slice(from === '' ? 1 : 0);
      const place = path in packages ? path : `node_modules/${name}`;
      if (found.has(place)) continue;
      found.add(place);
      visit(place, packages[place] ?? {});
    }
  };
  visit('', manifest);
  const own = bytesIn(join(installed, 'pinnace')) / 1e6;
  const whole = own + [...found].reduce((sum, place) => sum + bytesIn(join(root, place)), 0) / 1e6;
  const [ours, all] = [own.toFixed(1), whole.toFixed(1)];
  console.log(`npm install pinnace: ${found.size + 1} packages, ${all} MB, ${ours} MB of them the package itself`);
  if (found.size >= mostPackages) fail(`The package brings ${found.size} packages, ${mostPackages} with it at most`);
  if (own > mostMegabytes.own) fail(`The package has ${ours} MB, more than ${mostMegabytes.own}`);
  if (whole > mostMegabytes.whole) fail(`npm install pinnace brings ${all} MB, more than ${mostMegabytes.whole}`);
}

/** "Go to definition" of an editor leads from each function of an entry to its TypeScript, by the map beside the declaration. */
function checkSources({ exports }: Manifest): void {
  const values = publicValues(join(installed, 'pinnace'), Object.values(exports));
  const lost = values.filter(({ path, name, start }) => {
    if (!existsSync(`${path}.map`)) return true;
    const declarations = readFileSync(path, 'utf8');
    const before = declarations.slice(0, declarations.indexOf(` ${name}`, start) + 1).split('\n');
    const map = new SourceMap(JSON.parse(readFileSync(`${path}.map`, 'utf8')) as SourceMapPayload);
    const found = map.findEntry(before.length - 1, before.at(-1)?.length ?? 0);
    if (!('originalSource' in found)) return true;
    const source = readFileSync(join(dirname(path), found.originalSource), 'utf8').split('\n');
    return source[found.originalLine]?.slice(found.originalColumn).startsWith(name) !== true;
  });
  console.log(`${values.length - lost.length} of ${values.length} public functions lead to their source`);
  if (lost.length > 0) fail(`No source: ${lost.map(({ name }) => name).join(', ')}`);
}

function bytesIn(directory: string): number {
  return readdirSync(directory, { withFileTypes: true }).filter(({ name }) => name !== 'node_modules')
    .reduce((sum, entry) => {
      const path = join(directory, entry.name);
      return sum + (entry.isDirectory() ? bytesIn(path) : statSync(path).size);
    }, 0);
}

/** What a newcomer writes: the README's lines, every entry, and the examples. */
async function writeProject({ exports }: Manifest): Promise<void> {
  const compose = (await snippetsIn('ts')).find(({ page, code }) => page === 'README.md' && code.startsWith('import'));
  const names = Object.keys(exports).map((name) => `pinnace${name.slice(1)}`);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', dependencies: { pinnace: '*' } }));
  writeFileSync(join(folder, 'deno.json'), JSON.stringify({ nodeModulesDir: 'manual', unstable: ['kv'] }));
  writeFileSync(join(folder, 'compose.ts'), compose?.code ?? '');
  writeFileSync(join(folder, 'without-optional.mjs'), withoutOptional(names));
  writeFileSync(
    join(folder, 'entries.ts'),
    `${names.map((name) => `import '${name}';`).join('\n')}\nconsole.log('all');\n`,
  );
  cpSync(join(root, 'demo/examples'), folder, { recursive: true });
  writeFileSync(join(folder, 'turn.ts'), turn);
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2024',
    lib: ['esnext', 'dom', 'dom.iterable', 'dom.asynciterable'],
    types: ['deno', 'node'],
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    allowImportingTsExtensions: true,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
}

/** In a folder of its own, where the project's packages are but no `ai`. */
function checkWithoutAi(): void {
  const place = join(folder, 'without-ai');
  mkdirSync(place);
  writeFileSync(join(place, 'server.ts'), withoutAi);
  const lib = ['esnext', 'dom', 'dom.iterable', 'dom.asynciterable'];
  const checks = { strict: true, skipLibCheck: true, noEmit: true, types: ['node'] };
  const compilerOptions = { module: 'nodenext', target: 'es2024', lib, ...checks };
  writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  if (!run('node', ['server.ts'], place).includes('function answered')) fail('A server without "ai" does not answer');
  run('tsc', ['-p', '.'], place);
  console.log('ok as a server without ai, types included');
}

/** The oldest version that `docs/entries.md` names. */
const oldestTypeScript = '5.9';

/** Not a development dependency: its `tsc` would replace that of this checkout. Without a network and a cache there is none. */
function oldestCompiler(): string | undefined {
  const place = join(folder, 'compiler');
  mkdirSync(place);
  const options = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts', `--prefix=${place}`];
  const { status } = spawnSync('npm', ['install', ...options, `typescript@${oldestTypeScript}`], { cwd: place });
  return status === 0 ? join(place, 'node_modules/typescript/bin/tsc') : undefined;
}

/** The types of entries that need neither Deno nor an optional package, with the oldest `ai` and with library checks. */
function checkOldest({ exports }: Manifest): void {
  const names = Object.keys(exports).map((name) => `pinnace${name.slice(1)}`)
    .filter((name) => !/deno|\/mcp|otel|postgres|react/.test(name));
  const lines = names.map((name, at) => `import * as m${at} from '${name}';\nvoid m${at};`);
  const transport = `import type { ChatTransport, UIMessage } from 'ai';
import { createClient } from 'pinnace/transport/client';
export const transport: ChatTransport<UIMessage> = createClient({} as Parameters<typeof createClient>[0]);
`;
  mkdirSync(join(folder, 'oldest'), { recursive: true });
  writeFileSync(join(folder, 'oldest/entries.ts'), lines.join('\n'));
  writeFileSync(join(folder, 'oldest/transport.ts'), transport);
  for (const [module, moduleResolution] of [['esnext', 'bundler'], ['nodenext', 'nodenext']]) {
    const lib = ['esnext', 'dom', 'dom.iterable', 'dom.asynciterable'];
    const strict = { strict: true, skipLibCheck: false, noEmit: true, types: ['node'] };
    const compilerOptions = { module, moduleResolution, target: 'es2022', lib, ...strict };
    writeFileSync(join(folder, 'oldest/tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    run('tsc', ['-p', 'oldest']);
  }
  console.log('ok for TypeScript 7 with the oldest ai, library checks included');
  const compiler = oldestCompiler();
  if (compiler === undefined) {
    return console.log(`not checked with TypeScript ${oldestTypeScript}: it cannot be installed`);
  }
  run('node', [compiler, '-p', 'oldest']);
  console.log(`ok for TypeScript ${oldestTypeScript} with the oldest ai, library checks included`);
}

/** The types, besides those of options, whose every field has a docstring, too: what a newcomer writes. */
const documentedFields: readonly (readonly [entry: string, type: string])[] = [
  ['.', 'AgentInput'],
  ['.', 'ProviderInput'],
  ['.', 'Limits'],
  ['.', 'RunRequestInput'],
];

/** A hover explains every public name. */
function checkHovers({ exports }: Manifest): void {
  const own = join(installed, 'pinnace');
  const missing = [
    ...undocumentedNames(own, exports),
    ...undocumentedOptions(own, Object.values(exports)),
    ...documentedFields.flatMap(([entry, type]) => undocumentedFields(own, exports[entry] ?? '', type)),
  ];
  if (missing.length > 0) fail(`Public names have no docstring: ${missing.join(', ')}`);
}

const manifest = install();
checkHovers(manifest);
checkCount(manifest);
checkSources(manifest);
await writeProject(manifest);
for (const [runtime, ...args] of [['node'], ['deno', 'run', '-A', '--quiet']] as const) {
  if (!run(runtime, [...args, 'without-optional.mjs']).includes('all')) {
    fail(`An entry needs an optional package under ${runtime}`);
  }
}
checkWithoutAi();
try {
  console.log(checkServerBundles(folder));
} catch (error) {
  fail(String(error));
}
link('ai', 'ai-oldest');
checkOldest(manifest);
for (const name of Object.keys(manifest.peerDependencies)) link(name);
for (const [runtime, ...args] of [['node'], ['deno', 'run', '-A', '--quiet']] as const) {
  if (!run(runtime, [...args, 'entries.ts']).includes('all')) fail(`Not every entry can be imported under ${runtime}`);
  if (!/^5$/m.test(run(runtime, [...args, 'compose.ts']))) {
    fail(`The README's lines do not run under ${runtime}`);
  }
  console.log(`ok under ${runtime}`);
}
if (!run('deno', ['run', '-A', '--quiet', 'turn.ts']).includes('Ada')) {
  fail('The endpoint of the examples does not answer');
}
run('tsc', ['-p', '.']);
try {
  checkDeclarations(folder, Object.keys(manifest.exports).map((name) => `pinnace${name.slice(1)}`));
} catch (error) {
  fail(String(error));
}
console.log('ok as an endpoint, and for TypeScript, declarations included');
for (const name of ['react-dom', '@ai-sdk/react', 'vite']) link(name);
try {
  await checkTutorial(folder, [await freePort(), await freePort()]);
} catch (error) {
  fail(String(error));
}
console.log('ok as the tutorial says');
rmSync(folder, { recursive: true, force: true });
