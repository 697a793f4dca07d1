/** The frame of every page of the documentation. */

import { guideGroups } from '../guides.ts';
import { type Html, markup } from './html.ts';
import type { Section } from './render.ts';

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
export interface ShellOptions {
  readonly title: string;
  readonly body: Html;
  readonly sections: readonly Section[];
  /** Its path, such as `tools.html`. */
  readonly path: string;
  /** The relative path from the page to the folder of the site, such as `../../`. */
  readonly up: string;
}

/** Returns the whole page. */
export function shell({ title, body, sections, path, up }: ShellOptions): string {
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
