/** Values as Markdown for people: tables for lists of records, lists for records and lists, short texts in the line. */

import { isRecord } from '../../../../src/base/is-record.ts';
import { stringify } from '../conversation.ts';

const maxRows = 12;
const maxColumns = 6;
const maxEntries = 20;
const maxText = 1500;

/** Returns a value as a block, or as part of a line when `isInline` says that it is short. */
export function toMarkdown(value: unknown, depth = 0): string {
  if (Array.isArray(value)) return listOf(value, depth);
  if (typeof value === 'object' && value !== null) return recordOf(value, depth);
  return scalarOf(value);
}

/** Whether the value fits into a sentence. */
export function isInline(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= 120 && !value.includes('\n');
  return typeof value !== 'object' || value === null;
}

function scalarOf(value: unknown): string {
  if (typeof value !== 'string') return String(value);
  return value.length > maxText
    ? `${value.slice(0, maxText).trimEnd()}… (${value.length - maxText} more characters)`
    : value;
}

function listOf(items: readonly unknown[], depth: number): string {
  if (items.length === 0) return '(none)';
  const columns = columnsOf(items);
  if (columns.length > 0 && depth < 2) return tableOf(items as readonly Record<string, unknown>[], columns); // safe: records
  const shown = items.slice(0, maxRows).map((item) => `- ${cellOf(item)}`);
  return [...shown, ...more(items)].join('\n');
}

/** The columns, when all items are records of short values. */
function columnsOf(items: readonly unknown[]): readonly string[] {
  if (!items.every(isRecord)) return [];
  return [...new Set(items.slice(0, maxRows).flatMap((item) => Object.keys(item)))].slice(0, maxColumns);
}

function tableOf(items: readonly Record<string, unknown>[], columns: readonly string[]): string {
  const rows = items.slice(0, maxRows).map((item) => line(columns.map((column) => cellOf(item[column] ?? ''))));
  return [line(columns.map(cellOf)), line(columns.map(() => '---')), ...rows, ...more(items)].join('\n');
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function recordOf(record: object, depth: number): string {
  const entries = Object.entries(record);
  if (entries.length === 0) return '(empty)';
  const lines = entries.slice(0, maxEntries).map(([key, value]) =>
    depth < 2 && typeof value === 'object' && value !== null && !isNumbers(value)
      ? `- **${cellOf(key)}**:\n\n${indent(toMarkdown(value, depth + 1))}\n`
      : `- **${cellOf(key)}**: ${isNumbers(value) ? value.join(', ') : cellOf(value)}`
  );
  return [...lines, ...(entries.length > maxEntries ? [`- … and ${entries.length - maxEntries} more`] : [])].join('\n');
}

/** Whether the value is a list of few numbers, which reads best in the line. */
function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.length <= maxRows &&
    value.every((item) => typeof item === 'number');
}

/** A value on one line, with what would break a table made harmless. */
function cellOf(value: unknown): string {
  const text = typeof value === 'string' ? value : stringify(value);
  const short = text.length > 200 ? `${text.slice(0, 200)}…` : text;
  return short.replace(/\s*\n\s*/g, ' ').replaceAll('|', '\\|');
}

function more(items: readonly unknown[]): readonly string[] {
  return items.length > maxRows ? ['', `… and ${items.length - maxRows} more`] : [];
}

function indent(block: string): string {
  return block.split('\n').map((text) => `  ${text}`).join('\n');
}
