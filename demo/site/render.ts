/** Markdown as HTML, with the playground's own parser. HTML in the source is escaped. */

import { inlineText } from '../markdown/state/plain-text.ts';
import { readMarkdown } from '../markdown/state/markdown.ts';
import type { Block, Cell, Inline, ListItem, TableBlock } from '../markdown/state/markdown-types.ts';
import { type Html, markup } from './html.ts';

/** A heading that can be linked to. */
export interface Section {
  readonly level: number;
  readonly id: string;
  readonly title: string;
}

/** A page's Markdown as HTML, and its headings. */
interface Rendered {
  readonly body: Html;
  readonly sections: readonly Section[];
}

/** Renders a document; `hrefOf` returns the site address of a written target. */
export function renderMarkdown(text: string, hrefOf: (target: string) => string): Rendered {
  const sections: Section[] = [];
  const idOf = createAnchors();

  function render(block: Block): Html {
    switch (block.type) {
      case 'paragraph':
        return markup`<p>${renderText(block.children)}</p>\n`;
      case 'heading':
        return renderHeading(block);
      case 'code':
        return renderCode(block.text, block.language);
      case 'quote':
        return markup`<blockquote>${block.blocks.map(render)}</blockquote>\n`;
      case 'list': {
        const items = block.items.map((item) => markup`<li>${renderItem(item, block.tight)}</li>\n`);
        if (block.start === undefined) return markup`<ul>\n${items}</ul>\n`;
        return markup`<ol start="${block.start}">\n${items}</ol>\n`;
      }
      case 'table':
        return renderTable(block);
      case 'rule':
        return markup`<hr>\n`;
      case 'math':
        return markup`<code>${block.text}</code>`;
      default:
        return block satisfies never;
    }
  }

  function renderItem({ blocks }: ListItem, tight: boolean): readonly Html[] {
    return blocks.map((block) => tight && block.type === 'paragraph' ? renderText(block.children) : render(block));
  }

  function renderHeading({ level, children }: Extract<Block, { type: 'heading' }>): Html {
    const title = inlineText(children);
    const id = idOf(title);
    sections.push({ level, id, title });
    const anchor = level === 1
      ? undefined
      : markup` <a class="anchor" href="#${id}" aria-label="Link to “${title}”">#</a>`;
    const name = markup`${`h${level}`}`;
    return markup`<${name} id="${id}" class="heading-${level}">${renderText(children)}${anchor}</${name}>\n`;
  }

  const lines = text.split('\n').filter((line) => !/^<!--.*-->$/.test(line)); // for those who write the page
  const body = markup`${readMarkdown(lines.join('\n'), hrefOf).map(render)}`;
  return { body, sections };
}

export function renderCode(code: string, language: string): Html {
  const name = language === 'mermaid' ? 'a drawing, as Mermaid writes it' : language || 'text';
  return markup`<div class="code-block"><div class="code-head"><span>${name}</span></div><pre tabindex="0"><code>${
    highlight(code, language)
  }</code></pre></div>\n`;
}

function renderText(children: Cell): Html {
  return markup`${children.map(renderInline)}`;
}

function renderTable({ align, head, rows }: TableBlock): Html {
  const classOf = (column: number): Html | undefined => align[column] && markup` class="align-${align[column]}"`;
  const cellOf = (cell: Cell, i: number, tag: 'th' | 'td'): Html => {
    const name = markup`${cell.length === 0 ? 'td' : tag}`; // an empty heading is a plain cell
    return markup`<${name}${classOf(i)}>${renderText(cell)}</${name}>`;
  };
  const row = (tag: 'th' | 'td', cells: readonly Cell[]): Html =>
    markup`<tr>${cells.map((cell, i) => cellOf(cell, i, tag))}</tr>\n`;
  const isEmpty = head.every((cell) =>
    cell.every((node) => typeof node === 'object' && node.type === 'link' && node.isImage)
  );
  const top = isEmpty ? markup`<tbody>\n${row('td', head)}` : markup`<thead>\n${row('th', head)}</thead>\n<tbody>\n`;
  return scroller(markup`${top}${rows.map((cells) => row('td', cells))}</tbody>`);
}

/** A table that scrolls sideways, also with keys. */
export function scroller(table: Html): Html {
  return markup`<div class="table-scroller" tabindex="0" role="group" aria-label="Table"><table>\n${table}</table></div>\n`;
}

function renderInline(node: Inline): Html {
  if (typeof node === 'string') return markup`${node}`;
  switch (node.type) {
    case 'code':
      return markup`<code>${node.text}</code>`;
    case 'break':
      return markup`<br>`;
    case 'citation':
      return markup`${node.text}`;
    case 'strong':
    case 'em':
    case 'del': {
      const name = markup`${node.type}`;
      return markup`<${name}>${node.children.map(renderInline)}</${name}>`;
    }
    case 'link': {
      if (node.isImage) return markup`<img src="${node.href}" alt="${inlineText(node.children)}" loading="lazy">`;
      const relation = isElsewhere(node.href) ? markup` rel="noopener noreferrer"` : undefined;
      return markup`<a href="${node.href}"${relation}>${node.children.map(renderInline)}</a>`;
    }
    case 'math':
      return markup`<code>${node.text}</code>`;
    default:
      return node satisfies never;
  }
}

function isElsewhere(href: string): boolean {
  return /^[a-z]+:/.test(href);
}

/** Ids of headings, as GitHub generates them, so the same links work. */
function createAnchors(): (title: string) => string {
  const taken = new Map<string, number>();
  return (title) => {
    const id = title.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').trim().replace(/\s/g, '-');
    const times = taken.get(id) ?? 0;
    taken.set(id, times + 1);
    return times === 0 ? id : `${id}-${times}`;
  };
}

const text = /(?<quote>["'`])(?:\\.|(?!\k<quote>)[^\\\n])*\k<quote>/;
const scriptWords =
  /\b(?:as|async|await|break|case|catch|class|const|continue|default|declare|do|else|export|extends|false|finally|for|from|function|if|import|in|instanceof|interface|let|new|null|of|readonly|return|satisfies|static|switch|this|throw|true|try|type|typeof|undefined|unknown|void|while|yield)\b/;

const script = join(/\/\*[^]*?\*\/|(?<![:\w])\/\/[^\n]*/, scriptWords);
const shell = join(/(?<=^|\s)#[^\n]*/, /(?<=^|\n|&& )(?:curl|deno|npm|npx|node|docker|export|git|cd)\b/);
const languages: Readonly<Record<string, RegExp>> = {
  ts: script,
  tsx: script,
  js: script,
  json: join(/\/\/[^\n]*/, /\b(?:true|false|null)\b/),
  sh: shell,
  toml: shell,
};

function join(comment: RegExp, words: RegExp): RegExp {
  return new RegExp(`(?<comment>${comment.source})|(?<text>${text.source})|(?<word>${words.source})`, 'g');
}

/** Returns the code with colors, or unchanged for an unknown language. */
export function highlight(code: string, language: string): Html {
  const pattern = languages[language];
  if (!pattern) return markup`${code}`;
  const parts: (string | Html)[] = [];
  let at = 0;
  for (const found of code.matchAll(pattern)) {
    parts.push(code.slice(at, found.index), markup`<span class="code-${kindOf(found)}">${found[0]}</span>`);
    at = found.index + found[0].length;
  }
  return markup`${[...parts, code.slice(at)]}`;
}

function kindOf({ groups = {} }: RegExpMatchArray): string {
  return Object.keys(groups).find((name) => groups[name] !== undefined) ?? 'text';
}
