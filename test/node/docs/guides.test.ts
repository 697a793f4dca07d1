import { access, readdir, readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { guideGroups } from '../../../demo/guides.ts';
import { guideHref } from '../../../demo/kit/guide-href.ts';
import { highlight, renderMarkdown } from '../../../demo/site/render.ts';
import { siteFiles } from '../../../demo/site/site.ts';
import { differences } from '../../fixtures/loop/differences.ts';

const root = join(import.meta.dirname, '../../..');
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');
const generated = ['figures.md'];
const guides = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md') && !generated.includes(name));

describe('the guides', () => {
  it.each(guides)('keep to 150 lines: %s', async (name) => {
    expect((await read(`docs/${name}`)).split('\n').length).toBeLessThanOrEqual(151);
  });

  it.each(['tools', 'approvals', 'discovery', 'mcp', 'tree', 'grounding', 'registry', 'planner'])(
    'link to the effects of a stop, a repeat and a full storage: %s',
    async (name) => {
      expect(await read(`docs/${name}.md`)).toContain('runs.md#stops-repeats-and-a-full-storage');
    },
  );

  it('name every setting that the sample endpoints read from their environment', async () => {
    const deploy = await read('docs/deploy.md');
    const sources = await Promise.all(['demo/server.ts', 'demo/examples/deno-endpoint.ts'].map(read));
    const names = sources.flatMap((source) =>
      [...source.matchAll(/(?:env\.get|listOf|setting)\('([A-Z_]+)'/g)].map(([, name = '']) => name)
    );
    expect(names.length).toBeGreaterThan(8);
    expect(names.filter((name) => !deploy.includes(`\`${name}\``))).toEqual([]);
  });
});

it('has in the changelog an upgrade note for every breaking change', async () => {
  const text = await read('CHANGELOG.md');
  const listed = text.split(/^(?=### )/m).filter((section) => section.startsWith('### Breaking changes'));
  const entries = [
    ...listed.flatMap((section) => section.split(/^(?=- )/m).slice(1)),
    ...text.split(/^(?=- )/m).filter((entry) => /\*\*Breaking/.test(entry)),
  ];
  expect(entries.length).toBeGreaterThan(5);
  expect(entries.filter((entry) => !entry.includes('_Upgrade_:'))).toEqual([]);
});

/** The paths in the README's drawing of the folders: each line names paths below the last folder without indentation. */
function pathsOfTree(drawing: string): string[] {
  let folder = '';
  return drawing.split('\n').filter((line) => line.trim() !== '').flatMap((line) => {
    const names = line.trim().split(/ {2,}/)[0]?.split(' ') ?? [];
    if (line.startsWith(' ')) return names.map((name) => join(folder, name));
    [folder = ''] = names;
    return names;
  });
}

describe('the README', async () => {
  const paths = pathsOfTree(/```text\n(src\/[^]*?)```/.exec(await read('README.md'))?.[1] ?? '');

  it('names only files and folders that exist in its architecture', async () => {
    expect(paths.length).toBeGreaterThan(15);
    for (const path of paths) await expect(access(join(root, path)), path).resolves.toBeUndefined();
  });

  it('names every folder of src in its architecture', async () => {
    const entries = await readdir(join(root, 'src'), { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join('src', name, '/'));
    expect(folders.filter((folder) => !paths.includes(folder))).toEqual([]);
  });
});

describe('CONTRIBUTING', async () => {
  const stops = [...(await read('CONTRIBUTING.md')).matchAll(/^\d+\. `([^`]+\.ts)`: ((?:.|\n {3,4}\S)+)/gm)]
    .map(([, path = '', text = '']) => ({ path, text }));

  it('follows one request from the HTTP handler to the event stream', () => {
    expect(stops).toHaveLength(12);
    expect(stops[0]?.path).toMatch(/^adapters\/transport\/handler/);
    expect(stops.at(-1)?.path).toMatch(/sse/);
  });

  it.each(stops)(
    'names what a file exports, and describes it in at most three sentences: $path',
    async ({ path, text }) => {
      const [, name = ''] = /^`(\w+)`/.exec(text) ?? [];
      expect(await read(path)).toMatch(new RegExp(`^export (?:async )?(?:function|class|interface) ${name}\\b`, 'm'));
      expect(text.split(/[.!?](?:\s|$)/).filter((sentence) => sentence.trim() !== '').length).toBeLessThanOrEqual(3);
    },
  );
});

describe('the guide of models', () => {
  async function textOf(path: string): Promise<string> {
    return (await readFile(join(root, path), 'utf8')).replaceAll(/\s+/g, ' ');
  }

  interface Package {
    readonly version: string;
  }

  it('lists every intended difference to streamText', async () => {
    const guide = await textOf('docs/models.md');
    const reasons = Object.values(differences).map(({ reason }) => `- ${reason}.`);
    expect(reasons.filter((reason) => !guide.includes(reason))).toEqual([]);
  });

  it('names the versions that the tests run with', async () => {
    const guide = await textOf('docs/models.md');
    const named = [...guide.matchAll(/`(ai|@ai-sdk\/[a-z-]+)` (\d+\.\d+\.\d+)/g)];
    expect(named.length).toBeGreaterThan(4);
    for (const [, name, version] of named) {
      const installed = JSON.parse(await textOf(`node_modules/${name}/package.json`)) as Package; // as npm writes it
      expect([name, version]).toEqual([name, installed.version]);
    }
  });
});

/** Every claim of the security and permission guides names a test that exists, by file and title. */

const docs = ['security', 'permissions'] as const;

/** A cell such as `[keeps tenants apart](../test/scenarios/tenants.test.ts)`: the title, or a part of it, and the file. */
interface Proof {
  readonly title: string;
  readonly file: string;
}

/** The rows of the tables that have a column `proof`, as lists of the proofs that each names. */
function claimsOf(page: string): { readonly claim: string; readonly proofs: readonly Proof[] }[] {
  return page.split(/\n{2,}/)
    .filter((block) => /^\|.*\| *proof *\|$/m.test(block))
    .flatMap((table) => table.split('\n').slice(2).filter((row) => row.startsWith('|')))
    .map((row) => {
      const links = [...row.matchAll(/\[([^\]]+)\]\(\.\.\/(test\/[^)\s]+)\)/g)];
      const proofs = links.map(([, title = '', file = '']) => ({ title, file }));
      return { claim: row.split('|')[1]?.trim() ?? '', proofs };
    });
}

/** Titles in a source are quoted with any quotation mark, and may escape theirs. */
const plain = (text: string): string => text.replaceAll('\\', '').replaceAll('`', "'").replace(/\s+/g, ' ');

describe.each(docs)('docs/%s.md', async (name) => {
  const claims = claimsOf(await readFile(join(root, `docs/${name}.md`), 'utf8'));

  it('has claims', () => {
    expect(claims.length).toBeGreaterThan(5);
  });

  it.each(claims)('proves: $claim', async ({ proofs }) => {
    expect(proofs.length).toBeGreaterThan(0);
    for (const { title, file } of proofs) {
      const source = await readFile(join(root, file), 'utf8');
      expect(plain(source), `${file} has no test titled "${title}"`).toContain(plain(title));
    }
  });
});

const files = await siteFiles();
const htmlOf = (path: string): string => String(files.get(path) ?? '');
const pages = [...files.keys()].filter((path) => path.endsWith('.html'));
const valuesOf = (html: string, attribute: string): string[] =>
  [...html.matchAll(new RegExp(` ${attribute}="([^"]*)"`, 'g'))].map(([, value = '']) => value);

/** What is wrong with an address on a page, if anything is. */
function faultOf(href: string, from: string): string | undefined {
  if (/^(?:https?|mailto|data):/.test(href)) return undefined;
  const [path = '', anchor] = href.split('#', 2);
  const place = path === '' ? from : posix.join(posix.dirname(from), path);
  if (place === '../index.html') return undefined; // the playground
  if (!files.has(place)) return `${from} leads to ${href}, which is not there`;
  if (anchor === undefined || valuesOf(htmlOf(place), 'id').includes(anchor)) return undefined;
  return `${from} leads to ${href}, which has no such place`;
}

describe('the site of the documentation', () => {
  it('has every guide, and each in its list', async () => {
    const written = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md') && name !== 'README.md');
    const listed = guideGroups.flatMap((group) => group.guides).map(({ page }) => `${page}.html`);
    expect(listed).toEqual(expect.arrayContaining(written.map((name) => name.replace('.md', '.html'))));
    expect(listed.filter((path) => !files.has(path))).toEqual([]);
  });

  it('leads nowhere that is not there, by any link, picture or anchor', () => {
    const links = pages.flatMap((page) =>
      ['href', 'src'].flatMap((attribute) => valuesOf(htmlOf(page), attribute).map((href) => [href, page] as const))
    );
    expect(links.length).toBeGreaterThan(1_000);
    expect(links.map(([href, page]) => faultOf(href, page)).filter(Boolean)).toEqual([]);
  });

  it('has no id twice on a page', () => {
    const twice = pages.filter((page) => {
      const ids = valuesOf(htmlOf(page), 'id');
      return new Set(ids).size !== ids.length;
    });
    expect(twice).toEqual([]);
  });

  it('has pages with one title, one heading of the first level, and no code or style within', () => {
    for (const page of pages) {
      const html = htmlOf(page);
      expect([page, html.match(/<h1/g)?.length, html.match(/<title>/g)?.length]).toEqual([page, 1, 1]);
      expect(html).not.toMatch(/<script>|<style|<[^>]* (?:style|on\w+)="/);
    }
  });

  it('is where the playground says', async () => {
    const names = (await readdir(join(root, 'demo'), { recursive: true })).filter((name) => /\.tsx?$/.test(name));
    const texts = await Promise.all(names.map((name) => readFile(join(root, 'demo', name), 'utf8')));
    const asked = texts.flatMap((
      text,
    ) => [...text.matchAll(/(?:guideHref\(|<GuideLink page=)'([\w-]+)'(?:(?:, | anchor=)'([\w-]+)')?/g)]).map((
      [, page = '', anchor],
    ) => guideHref(page, anchor).replace('./docs/', ''));
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.map((href) => faultOf(href, 'index.html')).filter(Boolean)).toEqual([]);
  });
});

describe('renderMarkdown', () => {
  const render = (text: string): string => renderMarkdown(text, (target) => `to/${target}`).body.html;

  it('lets no HTML of the source through', () => {
    expect(render('# <script>alert(1)</script>')).not.toContain('<script>');
    expect(render('a <b onclick="x">b</b> & "c"')).toBe(
      '<p>a &#60;b onclick=&#34;x&#34;&#62;b&#60;/b&#62; &#38; &#34;c&#34;</p>\n',
    );
    expect(render('a\n\n<!-- a note -->\n\nb')).toBe('<p>a</p>\n<p>b</p>\n');
    expect(render('[a"b](x"onclick=)')).toContain('href="to/x&#34;onclick="');
  });

  it('makes the anchors that code forges make', () => {
    const { sections } = renderMarkdown('# Runs & `retries`: now\n\n## The same\n\n## The same', String);
    expect(sections.map(({ id }) => id)).toEqual(['runs--retries-now', 'the-same', 'the-same-1']);
  });

  it('shows pictures, leads on by links, and keeps the columns of tables', () => {
    expect(render('![A chart](c.webp)')).toBe('<p><img src="to/c.webp" alt="A chart" loading="lazy"></p>\n');
    expect(render('[Tools](tools.md)')).toBe('<p><a href="to/tools.md">Tools</a></p>\n');
    expect(render('| a | b |\n| - | -: |\n| 1 | 2 |')).toContain('<td>1</td><td class="align-right">2</td>');
  });
});

describe('highlight', () => {
  it('marks comments, texts and words, and changes nothing else', () => {
    const { html } = highlight("const url = 'http://x'; // <b>\n", 'ts');
    expect(html).toBe(
      '<span class="code-word">const</span> url = <span class="code-text">&#39;http://x&#39;</span>; ' +
        '<span class="code-comment">// &#60;b&#62;</span>\n',
    );
    expect(highlight('a < b', 'text').html).toBe('a &#60; b');
  });
});
