/** The documentation as a folder of static pages, from the Markdown of this project. */

import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join, posix } from 'node:path';
import { type ApiPage, apiPages } from './api.ts';
import type { GuideText } from '../guides.ts';
import { type Html, markup } from './html.ts';
import { renderCode, renderMarkdown, type Section } from './render.ts';
import { shell } from './shell.ts';

const root = join(import.meta.dirname, '../..');
const styles = [
  ...['tokens', 'base', 'controls'].map((name) => `demo/kit/styles/${name}.css`),
  'demo/markdown/style.css',
];

/** Cached, because reading the docstrings takes seconds. */
let api: Promise<readonly ApiPage[]> | undefined;

/** Files by their paths below the folder of the site. */
export type SiteFiles = ReadonlyMap<string, string | Uint8Array>;

/** The sources and their paths on the site. */
const named: Readonly<Record<string, string>> = {
  'README.md': 'about.html',
  'CONTRIBUTING.md': 'contributing.html',
  'CHANGELOG.md': 'changelog.html',
  'docs/README.md': 'index.html',
};

/** Returns every file of the site: the pages, what they link to in this project, pictures, and one style sheet. */
export async function siteFiles(): Promise<SiteFiles> {
  const files = new Map<string, string | Uint8Array>();
  const linked: string[] = [];
  const texts: GuideText[] = [];
  const guides = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md')).map((name) =>
    `docs/${name}`
  );
  for (const source of new Set([...Object.keys(named), ...guides])) {
    const text = await readFile(join(root, source), 'utf8');
    const { body, sections } = renderMarkdown(text, (target) => hrefOf(target, source, linked));
    put(files, placeOf(source), { title: sections[0]?.title ?? source, body, sections });
    texts.push([posix.basename(placeOf(source), '.html'), textsOf(body, sections)]);
  }
  for (const page of await (api ??= apiPages())) put(files, page.path, page);
  for (let source = linked.shift(); source !== undefined; source = linked.shift()) {
    const place = placeOf(source);
    if (!files.has(place)) await putLinked(files, source, linked);
  }
  files.set('site.css', (await Promise.all([...styles, 'demo/site/site.css'].map(read))).join('\n'));
  for (const script of ['theme', 'search']) files.set(`${script}.js`, await read(`demo/site/${script}.js`));
  files.set('texts.js', `export default ${JSON.stringify(texts)};\n`);
  files.set('minisearch.js', await read('node_modules/minisearch/dist/es/index.js'));
  return files;
}

/** The text below each heading, without its markup. */
function textsOf({ html }: Html, sections: readonly Section[]): GuideText[1] {
  const bodies = html.split(/<h[1-6] id="[^"]*"[^>]*>[^]*?<\/h[1-6]>/).slice(1);
  return sections.map(({ id, title }, i) => [id, title, plainOf(bodies[i] ?? '')]);
}

function plainOf(html: string): string {
  return html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replaceAll(/\s+/g, ' ').trim();
}

async function read(source: string): Promise<string> {
  return await readFile(join(root, source), 'utf8');
}

interface PageText {
  readonly title: string;
  readonly body: Html;
  readonly sections: readonly Section[];
}

function put(files: Map<string, string | Uint8Array>, path: string, page: PageText): void {
  files.set(path, shell({ ...page, path, up: '../'.repeat(path.split('/').length - 1) }));
}

/** A project file's path on the site. */
function placeOf(source: string): string {
  const own = named[source];
  if (own !== undefined) return own;
  if (/^docs\/[\w-]+\.md$/.test(source)) return `${posix.basename(source, '.md')}.html`;
  if (source.startsWith('docs/pictures/') && isPicture(source)) return source.slice('docs/'.length);
  return `files/${source}.html`;
}

/** The address on the site for a target in a page's Markdown; notes what it needs in `linked`. */
function hrefOf(target: string, source: string, linked: string[]): string {
  if (/^[a-z]+:|^#/.test(target)) return target;
  const [path = '', anchor] = target.split('#', 2);
  const wanted = posix.join(posix.dirname(source), path).replace(/\/$/, '');
  linked.push(wanted);
  const place = posix.relative(posix.dirname(placeOf(source)), placeOf(wanted));
  return anchor === undefined ? place : `${place}#${anchor}`;
}

/** A linked file of the project: a picture is copied, code becomes a page, a folder becomes a list. */
async function putLinked(files: Map<string, string | Uint8Array>, source: string, linked: string[]): Promise<void> {
  const path = join(root, source);
  if ((await stat(path)).isDirectory()) {
    const names = (await readdir(path)).toSorted();
    return put(files, placeOf(source), folderPage(source, names.map((name) => `${source}/${name}`), linked));
  }
  if (isPicture(source)) return void files.set(placeOf(source), await readFile(path));
  const body = markup`<h1>${posix.basename(source)}</h1>\n<p><code>${source}</code></p>\n${
    renderCode((await read(source)).trimEnd(), extname(source).slice(1))
  }`;
  put(files, placeOf(source), { title: posix.basename(source), body, sections: [] });
}

function folderPage(source: string, inner: readonly string[], linked: string[]): PageText {
  const items = inner.map((one) => {
    const name = posix.basename(one);
    const href = hrefOf(posix.relative(posix.dirname(source), one), source, linked);
    return isPicture(one)
      ? markup`<figure><img src="${href}" alt="${nameOf(name)}" loading="lazy"><figcaption>${
        nameOf(name)
      }</figcaption></figure>\n`
      : markup`<li><a href="${href}"><code>${name}</code></a></li>\n`;
  });
  const list = inner.every(isPicture) ? markup`${items}` : markup`<ul>\n${items}</ul>\n`;
  return { title: source, body: markup`<h1><code>${source}</code></h1>\n${list}`, sections: [] };
}

function isPicture(source: string): boolean {
  return /\.(?:webp|svg|png)$/.test(source);
}

function nameOf(picture: string): string {
  return posix.basename(picture, extname(picture)).replaceAll('-', ' ');
}
