import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { templates } from '../../../demo/create/src/templates.ts';
import { type Finished, runIn } from '../../tools/apps/new-apps.ts';

const root = join(import.meta.dirname, '../../..');
let folder: string;
let listed: readonly string[];

/** Packs the command as a release does, and installs the tarball in an empty folder. Neither needs a network: it has no dependencies. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'create-packed-'));
  const source = join(folder, 'source');
  const user = join(folder, 'user');
  await cp(join(root, 'demo/create'), source, { recursive: true });
  await must(root, ['tsc', '-p', 'demo/create', '--outDir', join(source, 'dist')]);
  await must(source, ['npm', 'pack', '--ignore-scripts', `--pack-destination=${folder}`]);
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz'))!;
  listed = (await must(folder, ['tar', '-tzf', tarball])).output.split('\n').filter(Boolean);
  await mkdir(user);
  await writeFile(join(user, 'package.json'), '{"private": true}');
  await must(user, ['npm', 'install', '--offline', '--no-audit', '--no-fund', join(folder, tarball)]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function must(cwd: string, command: readonly string[]): Promise<Finished> {
  const finished = await runIn(cwd, command, { npm_config_update_notifier: 'false' });
  expect(finished.code, finished.output).toBe(0);
  return finished;
}

describe('the packed command', () => {
  it('has its code and its templates, and nothing else', () => {
    const roots = new Set(listed.map((path) => path.split('/').slice(0, 2).join('/')));
    expect([...roots].toSorted()).toEqual([
      'package/README.md',
      'package/dist',
      'package/package.json',
      'package/templates',
    ]);
    expect(listed).toContain('package/dist/cli.js');
    expect(listed.filter((path) => /node_modules|\.test\.|\.tgz$/.test(path))).toEqual([]);
  });

  it.each(Object.keys(templates))('creates %s by npm create', async (template) => {
    const user = join(folder, 'user');
    const { output } = await must(user, [
      'npm',
      '--offline',
      'create',
      'pinnace',
      `my-${template}`,
      '--',
      '--template',
      template,
    ]);
    expect(output).toContain('Next:');
    const app = join(user, `my-${template}`);
    const manifest = template === 'deno' ? 'deno.json' : 'package.json';
    expect(await readFile(join(app, manifest), 'utf8')).toMatch(/pinnace/);
    expect(await readdir(join(app, 'src'))).toContain('agent.ts');
    expect(await readdir(app)).toContain('.gitignore');
  });
});
