/** The documentation as a folder of static pages, from the Markdown of this project. */

import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join, posix } from 'node:path';
import { guideGroups, type GuideText } from '../guides.ts';
import { type ApiPage, apiPages } from './api.ts';
import { type Html, markup } from './html.ts';
import { renderCode, renderMarkdown, type Section } from './render.ts';

const root = join(import.meta.dirname, '../..');
const styles = [
  ...['tokens', 'base', 'controls'].map((name) => `demo/kit/styles/${name}.css`),
  'demo/markdown/style.css',
];

/** Cached, because reading the docstrings takes seconds. */
let api: Promise<readonly ApiPage[]> | undefined;

/** Files by their paths below the folder of the site. */
type SiteFiles = ReadonlyMap<string, string | Uint8Array>;

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

/** The pages need no frames, forms or connections. The scripts apply the chosen color theme, copy code, and search. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Cpath fill='%230f7b8c' d='M17.5 3.5c4.6 3.2 7.4 8 7.9 14.3h-7.9z'/%3E%3Cpath fill='%23e2703a' d='M15 7.6v10.2H7.6C8.8 13.6 11.3 10 15 7.6z'/%3E%3Cpath fill='%230f7b8c' d='M4 20.6h24c-.9 3.6-3.6 6-7.4 6h-9c-4 0-6.7-2.4-7.6-6z'/%3E%3C/svg%3E";

/** The parts of a page. */
interface ShellOptions {
  readonly title: string;
  readonly body: Html;
  readonly sections: readonly Section[];
  /** Its path, such as `tools.html`. */
  readonly path: string;
  /** The relative path from the page to the folder of the site, such as `../../`. */
  readonly up: string;
}

/** Returns the whole page. */
function shell({ title, body, sections, path, up }: ShellOptions): string {
  return markup`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="#f3f6f7" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#0b141b" media="(prefers-color-scheme: dark)">
<meta name="referrer" content="no-referrer">
<title>${title} · Pinnace</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="${up}site.css">
<script src="${up}theme.js"></script>
<script type="module" src="${up}search.js"></script>
</head>
<body>
<header class="site-head">
<a class="site-brand" href="${up}index.html">${mark}<span>Pinnace<span class="site-wide"> guides</span></span></a>
<a class="site-jump" href="#all-guides">All pages</a>
<a class="button" href="${up}../index.html">Playground</a>
</header>
<div class="site">
<main class="markdown">
${body}${nextOf(path, up)}</main>
<nav id="all-guides" aria-label="Guides">
${guideGroups.map((group) => groupOf(group, { path, up, sections }))}</nav>
</div>
</body>
</html>
`.html;
}

/** The pages before and after this one, in the order of the list. */
function nextOf(path: string, up: string): Html | undefined {
  const all = guideGroups.flatMap(({ guides }) => guides);
  const at = all.findIndex(({ page }) => `${page}.html` === path);
  if (at < 0) return undefined;
  const [before, next] = [all[at - 1], all[at + 1]];
  return markup`<div class="site-next" role="navigation" aria-label="Next pages">
${before && markup`<a href="${up}${before.page}.html" rel="prev">Previous: ${before.title}</a>`}
${next && markup`<a href="${up}${next.page}.html" rel="next">Next: ${next.title}</a>`}
</div>
`;
}

const mark =
  markup`<svg class="mark" viewBox="0 0 32 32" width="28" height="28" aria-hidden="true"><path class="mark-sail" d="M17.5 3.5c4.6 3.2 7.4 8 7.9 14.3h-7.9z"/><path class="mark-jib" d="M15 7.6v10.2H7.6C8.8 13.6 11.3 10 15 7.6z"/><path class="mark-hull" d="M4 20.6h24c-.9 3.6-3.6 6-7.4 6h-9c-4 0-6.7-2.4-7.6-6z"/></svg>`;

type Here = Pick<ShellOptions, 'path' | 'up' | 'sections'>;

function groupOf({ title, guides }: (typeof guideGroups)[number], { path, up, sections }: Here): Html {
  const items = guides.map((guide) => {
    const file = `${guide.page}.html`;
    if (path.startsWith(`${guide.page}/`)) {
      return markup`<li><a href="${up}${file}" aria-current="true">${guide.title}</a></li>\n`;
    }
    if (file !== path) return markup`<li><a href="${up}${file}">${guide.title}</a></li>\n`;
    const below = sections.filter(({ level }) => level === 2);
    const list = below.map(({ id, title: name }) => markup`<li><a href="#${id}">${name}</a></li>\n`);
    return markup`<li><a href="${up}${file}" aria-current="page">${guide.title}</a>${
      list.length > 0 ? markup`\n<ul class="site-sections">\n${list}</ul>` : undefined
    }</li>\n`;
  });
  return markup`<h2>${title}</h2>\n<ul>\n${items}</ul>\n`;
}
