/**
 * The smoke test of the package: packs it, puts it into an empty folder as npm would, beside what it depends on and nothing else,
 * and uses it there under Node, under Deno and with TypeScript. Needs `dist/`, and no network.
 */

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
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
  readonly exports: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

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

/** Nothing but what is used there. */
function checkContents(paths: readonly string[], { exports }: Manifest): void {
  const wanted =
    /^(?:package\.json|README\.md|LICENSE|CHANGELOG\.md|dist\/(?:src|adapters|test\/contracts)\/.+\.(?:js|d\.ts))$/;
  const others = paths.filter((path) => !wanted.test(path));
  if (others.length > 0) fail(`The package has unexpected files: ${others.slice(0, 5).join(', ')}`);
  const missing = Object.values(exports).filter((path) => !paths.includes(path.slice(2)));
  if (missing.length > 0) fail(`The package lacks what it exports: ${missing.join(', ')}`);
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
  for (const name of [...Object.keys(manifest.dependencies), '@types/deno', '@types/node']) {
    mkdirSync(dirname(join(installed, name)), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(installed, name), 'dir');
  }
  console.log(`${packed.files.length} files, ${Math.round(packed.size / 1000)} kB packed`);
  return manifest;
}

/** What a newcomer writes: the README's lines, every entry, and the examples. */
async function writeProject({ exports }: Manifest): Promise<void> {
  const compose = (await snippetsIn('ts')).find(({ page, code }) => page === 'README.md' && code.startsWith('import'));
  const names = Object.keys(exports).map((name) => `pinnace${name.slice(1)}`);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', dependencies: { pinnace: '*' } }));
  writeFileSync(join(folder, 'deno.json'), JSON.stringify({ nodeModulesDir: 'manual', unstable: ['kv'] }));
  writeFileSync(join(folder, 'compose.ts'), compose?.code ?? '');
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

await writeProject(install());
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
console.log('ok as an endpoint, and for TypeScript');
rmSync(folder, { recursive: true, force: true });
