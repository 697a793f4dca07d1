/**
 * Apps of `npm create pinnace` in empty folders: made by the packed command, beside the packed library and the packages that the app
 * declares. Needs no network.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';

const root = join(import.meta.dirname, '../../..');
const modules = join(root, 'node_modules');

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<
    Record<string, { readonly optional?: boolean }>
  >;
}

/** Where the tarballs are, and what makes apps of them. */
export interface NewApps {
  /** Runs the command in the folder of the apps. */
  readonly run: (...args: readonly string[]) => Promise<Finished>;
  /** Makes an app and installs what it declares; returns its folder. */
  readonly create: (template: string, name?: string) => Promise<string>;
  readonly folder: string;
  readonly close: () => Promise<void>;
}

/** How a command ended. */
export interface Finished {
  readonly code: number;
  readonly output: string;
}

/** Runs a program of this checkout, or another one. */
export async function runIn(
  cwd: string,
  [command = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  const child = spawn(command, args, {
    cwd,
    env: {
      ...process.env,
      PATH: `${join(modules, '.bin')}:${process.env['PATH']}`,
      NODE_ENV: undefined, // that of the tests would make `vite build` a build for development
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => (output += String(chunk)));
  }
  const [code] = await once(child, 'close') as [number | null];
  return { code: code ?? -1, output };
}

async function mustRun(cwd: string, command: readonly string[]): Promise<void> {
  const { code, output } = await runIn(cwd, command);
  if (code !== 0) throw new Error(`${command.join(' ')} failed:\n${output}`);
}

/** Packs the library and the command. */
export async function packApps(): Promise<NewApps> {
  const folder = await mkdtemp(join(tmpdir(), 'pinnace-apps-'));
  await Promise.all([
    packLibrary(join(folder, 'library')),
    packCommand(join(folder, 'command')),
  ]);
  const command = join(folder, 'command/package');
  const apps = join(folder, 'apps');
  await mkdir(apps);
  const run: NewApps['run'] = (...args) => runIn(apps, ['node', join(command, 'dist/cli.js'), ...args]);
  return {
    run,
    folder: apps,
    async create(template, name = template) {
      const { code, output } = await run(name, '--template', template);
      if (code !== 0) throw new Error(output);
      await install(join(apps, name), join(folder, 'library/package'));
      return join(apps, name);
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

async function packLibrary(folder: string): Promise<void> {
  const source = join(folder, 'source');
  await mkdir(source, { recursive: true });
  await mustRun(root, [
    'tsc',
    '-p',
    'tsconfig.build.json',
    '--outDir',
    join(source, 'dist'),
  ]);
  await mustRun(root, ['node', 'test/tools/bundle-package.ts', join(source, 'dist')]);
  for (const file of ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md']) {
    await cp(join(root, file), join(source, file));
  }
  await packAndUnpack(source, folder);
}

async function packCommand(folder: string): Promise<void> {
  const source = join(folder, 'source');
  await cp(join(root, 'demo/create'), source, { recursive: true });
  await mustRun(root, [
    'tsc',
    '-p',
    'demo/create',
    '--outDir',
    join(source, 'dist'),
  ]);
  await packAndUnpack(source, folder);
}

/** Only files that npm packs exist afterwards, in `folder/package`. */
async function packAndUnpack(source: string, folder: string): Promise<void> {
  await mustRun(source, [
    'npm',
    'pack',
    '--ignore-scripts',
    `--pack-destination=${folder}`,
  ]);
  await mustRun(folder, ['sh', '-c', 'tar -xzf *.tgz']);
  await rm(source, { recursive: true });
}

/** What `npm install` does: the library, and links to what the app and the library declare. */
async function install(app: string, library: string): Promise<void> {
  const installed = join(app, 'node_modules');
  await cp(library, join(installed, 'pinnace'), { recursive: true });
  const own = await manifestOf(app);
  const { dependencies, peerDependencies = {}, peerDependenciesMeta = {} } = await manifestOf(library);
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true);
  const names = Object.keys({
    ...own.dependencies,
    ...own.devDependencies,
    ...dependencies,
  }).concat(peers);
  for (const name of new Set(names)) {
    if (name === 'pinnace') continue;
    await mkdir(dirname(join(installed, name)), { recursive: true });
    await symlink(join(modules, name), join(installed, name), 'dir');
  }
}

/** An app on Deno has none. */
async function manifestOf(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => '{}');
  return JSON.parse(text) as Manifest; // of ours
}
