import { readdir, readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { guideHref } from '../../../demo/kit/guide-href.ts';
import { guideGroups } from '../../../demo/guides.ts';
import { highlight, renderMarkdown } from '../../../demo/site/render.ts';
import { siteFiles } from '../../../demo/site/site.ts';

const root = join(import.meta.dirname, '../../..');
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
    const listed = guideGroups.flatMap(({ guides }) => guides).map(({ page }) => `${page}.html`);
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
