import { type ReadonlySignal, useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { CopyButton } from '../../kit/copy-button.tsx';
import { lazy } from '../../kit/lazy.tsx';
import type { Token } from '../state/highlight.ts';
import type { Block, Inline, ListBlock, ListItem, TableBlock } from '../state/markdown-types.ts';
import { createMarkdownReader } from '../state/markdown.ts';
import { inlineText } from '../state/plain-text.ts';
import { Citation } from './citation.tsx';

export { plainText } from '../state/plain-text.ts';

/** An answer's text. Only its last blocks are read and rendered anew when it grows. */
export function Markdown({ text, isLive }: { text: ReadonlySignal<string>; isLive: boolean }): JSX.Element {
  const reader = useMemo(createMarkdownReader, [text]);
  return (
    <div class={`markdown${isLive ? ' is-live' : ''}`}>
      {reader.read(text.value).map((block, i) => <BlockView key={i} block={block} />)}
    </div>
  );
}

/** Returns the same node for the same block, so that nothing below it is compared. */
function BlockView({ block }: { block: Block }): JSX.Element {
  return useMemo(() => renderBlock(block), [block]);
}

function renderBlock(block: Block): JSX.Element {
  switch (block.type) {
    case 'paragraph':
      return <p dir='auto'>{renderInline(block.children)}</p>;
    case 'heading':
      return renderHeading(block);
    case 'code':
      return <CodeBlock language={block.language} text={block.text} closed={block.closed} />;
    case 'math':
      return <Formula text={block.text} isBlock />;
    case 'quote':
      return <blockquote dir={directionOf(block.blocks[0])}>{renderBlocks(block.blocks)}</blockquote>;
    case 'list':
      return renderList(block);
    case 'table':
      return renderTable(block);
    case 'rule':
      return <hr />;
    default:
      return block satisfies never;
  }
}

const rightToLeft = /^\P{L}*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/** The line of a quote is where its text begins. `dir='auto'` does not look into blocks that have a direction of their own. */
function directionOf(block: Block | undefined): 'rtl' | undefined {
  return block?.type === 'paragraph' && rightToLeft.test(inlineText(block.children)) ? 'rtl' : undefined;
}

function renderBlocks(blocks: readonly Block[]): ComponentChildren {
  return blocks.map(renderBlock);
}

/** Headings of an answer rank below the page's own headings. */
function renderHeading({ level, children }: Extract<Block, { type: 'heading' }>): JSX.Element {
  const Tag = `h${Math.min(level + 2, 6)}` as 'h3' | 'h4' | 'h5' | 'h6'; // safe: level is 1 to 6
  return <Tag class={`heading-${level}`} dir='auto'>{renderInline(children)}</Tag>;
}

function renderList({ start, tight, items }: ListBlock): JSX.Element {
  const content = items.map((item, i) => (
    <li key={i} dir='auto' class={item.checked === undefined ? undefined : 'task'}>{renderItem(item, tight)}</li>
  ));
  if (start === undefined) return <ul>{content}</ul>;
  return <ol start={start}>{content}</ol>;
}

function renderItem({ checked, blocks }: ListItem, tight: boolean): ComponentChildren {
  return [
    checked !== undefined && (
      <input key='task' type='checkbox' checked={checked} disabled aria-label={checked ? 'Done' : 'Open'} />
    ),
    ...blocks.map((block) => tight && block.type === 'paragraph' ? renderInline(block.children) : renderBlock(block)),
  ];
}

function renderTable({ align, head, rows }: TableBlock): JSX.Element {
  const classOf = (column: number): string | undefined => align[column] && `align-${align[column]}`;
  return (
    <div class='table-scroller' tabIndex={0} role='group' aria-label='Table'>
      <table dir='auto'>
        <thead>
          <tr>{head.map((cell, i) => <th key={i} class={classOf(i)}>{renderInline(cell)}</th>)}</tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>{row.map((cell, j) => <td key={j} class={classOf(j)}>{renderInline(cell)}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function renderInline(nodes: readonly Inline[]): ComponentChildren {
  return nodes.map((node, i) => typeof node === 'string' ? node : renderNode(node, i));
}

function renderNode(node: Exclude<Inline, string>, key: number): JSX.Element {
  switch (node.type) {
    case 'code':
      return <code key={key}>{node.text}</code>;
    case 'break':
      return <br key={key} />;
    case 'math':
      return <Formula key={key} text={node.text} isBlock={node.isBlock} />;
    case 'citation':
      return <Citation key={key} numbers={node.numbers} text={node.text} />;
    case 'strong':
      return <strong key={key}>{renderInline(node.children)}</strong>;
    case 'em':
      return <em key={key}>{renderInline(node.children)}</em>;
    case 'del':
      return <del key={key}>{renderInline(node.children)}</del>;
    case 'link':
      return (
        <a key={key} href={node.href} target='_blank' rel='noopener noreferrer' title={node.href}>
          {renderInline(node.children.flatMap((child) => isLink(child) ? child.children : [child]))}
        </a>
      );
    default:
      return node satisfies never;
  }
}

/** An image within a link is its text: the link leads where the link says. */
function isLink(node: Inline): node is Extract<Inline, { type: 'link' }> {
  return typeof node === 'object' && node.type === 'link';
}

interface CodeBlockProps {
  readonly language: string;
  readonly text: string;
  /** Whether the block has come to its end. It is colored then, not while it grows. */
  readonly closed: boolean;
}

/** Code with its language, its colors, and a button that copies it. */
export function CodeBlock({ language, text, closed }: CodeBlockProps): JSX.Element {
  const colored = useSignal<{ readonly of: string; readonly tokens: readonly Token[] } | undefined>(undefined);
  useEffect(() => {
    let isHere = true;
    if (closed && language !== '') {
      import('../state/highlight.ts').then(({ highlight }) => highlight(text, language)).then(
        (tokens) => isHere && tokens && (colored.value = { of: text, tokens }),
        () => undefined, // it stays in one color
      );
    }
    return () => void (isHere = false);
  }, [text, language, closed]);
  const tokens = colored.value?.of === text ? colored.value.tokens : undefined;
  return (
    <div class='code-block' dir='ltr'>
      <div class='code-head'>
        <span>{language || 'text'}</span>
        <CopyButton text={() => text} label='Copy' />
      </div>
      <pre tabIndex={0}><code>{tokens ? tokens.map(renderToken) : text}</code></pre>
    </div>
  );
}

function renderToken({ text, kind }: Token, i: number): ComponentChildren {
  return kind === undefined ? text : <span key={i} class={`token-${kind}`}>{text}</span>;
}

interface MathProps {
  readonly text: string;
  readonly isBlock: boolean;
}

/** A formula; until its reader has been fetched, as it is written. */
export const Formula = lazy(async () => (await import('./formula.tsx')).Formula, { StandIn: Source });

function Source({ text }: MathProps): JSX.Element {
  return <code>{text}</code>;
}
