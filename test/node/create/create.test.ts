import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { templates } from '../../../demo/create/src/templates.ts';
import { type Finished, runIn } from '../../tools/apps/new-apps.ts';

const root = join(import.meta.dirname, '../../..');
const command = join(root, 'demo/create/src/cli.ts');
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'create-pinnace-'));
});
afterAll(() => rm(folder, { recursive: true }));

const create = (args: readonly string[], cwd = folder): Promise<Finished> => runIn(cwd, ['node', command, ...args]);
const read = (...path: readonly string[]): Promise<string> => readFile(join(folder, ...path), 'utf8');
const versionOf = async (path: string): Promise<unknown> =>
  JSON.parse(await readFile(join(root, path), 'utf8')).version;

describe('npm create pinnace', () => {
  it.each(Object.entries(templates))(
    'creates %s, and prints the next commands',
    async (template, { start }) => {
      const { code, output } = await create([template, '--template', template]);
      expect(code, output).toBe(0);
      expect(output).toContain(
        [`cd ${template}`, ...start].map((step) => `  ${step}\n`).join(''),
      );
      expect(await read(template, '.gitignore')).toContain('.env\n');
      expect(await read(template, 'README.md')).toContain(
        `# ${template}\n\n\`\`\`sh\n${start.join('\n')}\n`,
      );
      expect(await readdir(join(folder, template), { recursive: true }))
        .toContain('src/agent.ts');
      const manifest = await read(
        template,
        template === 'deno' ? 'deno.json' : 'package.json',
      );
      expect(manifest).toContain(`^${String(await versionOf('package.json'))}`);
      expect(await readdir(folder)).not.toContainEqual(
        expect.stringMatching(/^\./),
      );
    },
  );

  it('takes the template from where npm puts it when its options lack the "--"', async () => {
    const { code, output } = await create(['bare', 'react']);
    expect(code, output).toBe(0);
    expect(await read('bare', 'package.json')).toContain('"react"');
  });

  it('gives each endpoint a token of its own, which only its user can read', async () => {
    await create(['one', '--template', 'node']);
    await create(['two', '--template', 'node']);
    const tokens = await Promise.all(
      ['one', 'two'].map((name) => read(name, '.env')),
    );
    const [one, two] = tokens.map((text) => /^TOKEN=([\w-]{36})$/m.exec(text)?.[1]);
    expect(one).toBeDefined();
    expect(two).toBeDefined();
    expect(one).not.toBe(two);
    expect((await stat(join(folder, 'one/.env'))).mode & 0o777).toBe(0o600);
  });

  it('fills an empty folder, also the current one', async () => {
    const path = join(folder, 'My App');
    await mkdir(path);
    const { ino } = await stat(path);
    const { code, output } = await create(['.', '--template', 'react'], path);
    expect(code, output).toBe(0);
    expect(output).toContain('Next:\n\n  npm install\n  npm run dev\n');
    expect((await stat(path)).ino).toBe(ino);
    expect(JSON.parse(await read('My App', 'package.json'))).toMatchObject({
      name: 'my-app',
    });
    expect(await readdir(path)).not.toContainEqual(
      expect.stringContaining('My App'),
    );
  });

  it('quotes a folder that a shell would split', async () => {
    const { output } = await create([`Ada's app`, '--template', 'page']);
    expect(output).toContain(`  cd 'Ada'\\''s app'\n`);
  });

  it('names a folder that cd would take for an option by its path', async () => {
    const { output } = await create(['--template', 'page', '--', '-rf']);
    expect(output).toContain('  cd ./-rf\n');
  });

  it('refuses a folder that is not empty, and changes nothing in it', async () => {
    await mkdir(join(folder, 'full'));
    await writeFile(join(folder, 'full/notes.txt'), 'mine');
    const { code, output } = await create(['full', '--template', 'react']);
    expect(code).toBe(1);
    expect(output).toContain('the folder is not empty. Name another folder');
    expect(await readdir(join(folder, 'full'))).toEqual(['notes.txt']);
    expect(await read('full', 'notes.txt')).toBe('mine');
  });

  it('refuses a file, and removes its draft', async () => {
    await writeFile(join(folder, 'file'), 'mine');
    expect(await create(['file', '--template', 'react'])).toMatchObject({
      code: 1,
      output: expect.stringContaining('it is a file'),
    });
    const refused = await create([
      'on-deno',
      '--template',
      'deno',
      '--pinnace',
      'file:../pinnace.tgz',
    ]);
    expect(refused).toMatchObject({
      code: 1,
      output: expect.stringContaining('name a version of pinnace'),
    });
    expect((await readdir(folder)).filter((name) => name.includes('on-deno')))
      .toEqual([]);
  });

  it.each([
    [
      ['app', '--template', 'vue'],
      'There is no template "vue". Choose one of: page, react, deno, node',
    ],
    [
      ['app', '--template', 'constructor'],
      'There is no template "constructor"',
    ],
    [
      ['app', 'other', '--template', 'page'],
      'Cannot create two folders: app, other',
    ],
    [['app'], 'Name a folder and a template'],
  ])('refuses %j, and says why', async (args, reason) => {
    const { code, output } = await create(args);
    expect(code).toBe(1);
    expect(output).toContain(reason);
    expect(await readdir(folder)).not.toContain('app');
  });

  it('has the version of the library', async () => {
    expect(await versionOf('demo/create/package.json')).toBe(
      await versionOf('package.json'),
    );
  });
});
