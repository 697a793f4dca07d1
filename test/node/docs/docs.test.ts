import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import * as stage from '../../fixtures/docs/stage.ts';
import { runCommand } from '../../tools/run-command.ts';
import { pages, type Snippet, snippetsIn } from '../../tools/snippets.ts';

const root = join(import.meta.dirname, '../../..');
const folder = join(root, 'node_modules/.cache/docs');
/** Those that import files beside them are files of `demo/examples`, which other tests run. */
const snippets = (await snippetsIn('ts', 'tsx')).filter(({ language, code }) =>
  language === 'ts' || !code.includes(" from './")
);
const run = snippets.filter(({ note, language }) => note !== 'types' && language === 'ts');
const shown = ({ page, line }: Snippet): string => `${page}:${line}`;
const fileOf = (snippet: Snippet): string =>
  join(folder, `${shown(snippet).replace(/[/:.]/g, '-')}.${snippet.language}`);

/** The names that a snippet declares or imports itself. */
function declaredBy(code: string): Set<string> {
  const single = [...code.matchAll(/\b(?:const|let|function|class|import|as)\s+(\w+)/g)].map(([, name = '']) => name);
  const several = [...code.matchAll(/\b(?:const|let|import|await)\s+(?:type\s+)?\{([^}]*)\}/g)]
    .flatMap(([, names = '']) => names.split(',').map((name) => name.trim().split(/\s+|:/).at(-1) ?? ''));
  return new Set([...single, ...several]);
}

/** A snippet as a module: what it takes for granted comes from the stage, on a line of its own. */
function moduleOf({ code }: Snippet): string {
  const declared = declaredBy(code);
  const used = Object.keys(stage).filter((name) => !declared.has(name) && new RegExp(`\\b${name}\\b`).test(code));
  const from = relative(folder, join(root, 'test/fixtures/docs/stage.ts'));
  return `import { ${used.join(', ')} } from '${from}';\n${code}\nexport {};\n`;
}

beforeAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await Promise.all(snippets.map((snippet) => writeFile(fileOf(snippet), moduleOf(snippet))));
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => void vi.unstubAllGlobals());
// Clients on the pages call the endpoint of the stage by its name; every other request fails.
vi.stubGlobal('fetch', async (input: RequestInfo, init?: RequestInit) => {
  const request = new Request(input, init);
  if (new URL(request.url).hostname === 'agents.example') return await stage.handler(request);
  throw new TypeError(`No snippet may call ${request.url}`);
});

describe('the documentation', () => {
  it('has only TypeScript that type-checks', async () => {
    const config = {
      extends: relative(folder, join(root, 'tsconfig.json')),
      compilerOptions: {
        types: ['deno', 'node', 'vite/client'],
        jsxImportSource: 'react',
        noUnusedLocals: false,
        noUnusedParameters: false,
      },
      include: ['*.ts', '*.tsx'],
      exclude: [],
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const { stdout } = await runCommand('tsc', ['-p', folder]);
    expect(stdout).toBe('');
    expect(snippets.length).toBeGreaterThan(20); // the search finds snippets at all
  });

  it.each(run.map((snippet) => [shown(snippet), snippet] as const))(
    '%s runs and prints what it says',
    async (_, one) => {
      const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
      await expect(import(/* @vite-ignore */ fileOf(one))).resolves.toBeDefined();
      const printed = log.mock.calls.map((line) =>
        line.map((part) => (typeof part === 'string' ? part : JSON.stringify(part))).join(' ')
      );
      const promised = [...one.code.matchAll(/\/\/ → (.*)$/gm)].map(([, text]) => text);
      if (promised.length > 0) expect(printed).toEqual(promised);
    },
  );

  it('says what every name is that a snippet uses without declaring it', async () => {
    const guide = await readFile(join(root, 'docs/README.md'), 'utf8');
    const named = guide.slice(guide.indexOf('## Names in the examples'));
    expect(Object.keys(stage).filter((name) => name !== 'v' && !new RegExp(`\\b${name}\\b`).test(named))).toEqual([]);
  });

  it('has only JSON that can be read', async () => {
    for (const { code, ...place } of await snippetsIn('json')) {
      expect(() => JSON.parse(code), `${place.page}:${place.line}`).not.toThrow();
    }
  });

  it('names scripts of npm and files that there are', async () => {
    const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    const own = new Set(['ci', 'create', 'init', 'install', 'start', 'test', 'i', 'pack', 'pkg']);
    for (const { code, ...place } of await snippetsIn('sh')) {
      for (const [, name = ''] of code.matchAll(/\bnpm run ([\w:-]+)/g)) {
        expect(scripts, place.page).toHaveProperty(name);
      }
      for (const [, name = ''] of code.matchAll(/\bnpm (?!run )(\w+)/g)) expect(own, place.page).toContain(name);
      for (const [, path = ''] of code.matchAll(/\s((?:demo|test|docs)\/[\w./-]+\.\w+)/g)) {
        await access(join(root, path));
      }
    }
  });

  it('has no link inside the project that leads nowhere', async () => {
    for (const page of await pages()) {
      const text = await readFile(join(root, page), 'utf8');
      for (const [, target = ''] of text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)[^)]*\)/g)) {
        await expect(access(join(root, dirname(page), target)), `${page} -> ${target}`).resolves.toBeUndefined();
      }
    }
  });

  it('names files that there are', async () => {
    for (const page of await pages()) {
      if (page === 'CHANGELOG.md' || page === 'docs/figures.md') continue; // the benchmarks write the second
      const text = await readFile(join(root, page), 'utf8');
      for (const [, path = ''] of text.matchAll(/`((?:src|adapters|demo|test|docs)\/[\w./-]+)`/g)) {
        await expect(access(join(root, path)), `${page} -> ${path}`).resolves.toBeUndefined();
      }
    }
  });

  it('keeps its pages short', async () => {
    for (const page of await pages()) {
      if (page === 'CHANGELOG.md' || page === 'docs/figures.md') continue; // the benchmarks write the second
      const { length } = (await readFile(join(root, page), 'utf8')).split('\n');
      expect(length, page).toBeLessThanOrEqual(page.startsWith('docs/') ? 151 : 251);
    }
  });
});
