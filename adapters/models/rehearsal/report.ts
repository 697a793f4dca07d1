/** What the scripted model says about calls: their results as Markdown for people, and plainly what failed. */

import { asRecord, isRecord } from '../../../src/base/is-record.ts';
import { asList, type Outcome, own, type PastCall, stringify } from './conversation.ts';

const most = { rows: 12, columns: 6, entries: 20, text: 1500 };

/** Reports what tools returned. A failure that a second try corrected is mentioned with that call. */
export function reportOn(steps: readonly (readonly PastCall[])[]): string {
  const calls = steps.flat();
  const blocks = calls.flatMap((call) => {
    if (call.outcome?.kind === 'failure' && calls.some((next) => isRetryOf(next, call))) return [];
    const lead = calls.some((failed) => isRetryOf(call, failed)) ? 'At the second try: ' : '';
    return call.outcome?.kind === 'value' ? [`${lead}${sayResult(call, call.outcome.value)}`] : [sayFailure(call)];
  });
  return blocks.join('\n\n').replace(/\n{3,}/g, '\n\n');
}

/** Whether a call is the second try of another. */
export function isRetryOf(next: PastCall, { toolCallId }: PastCall): boolean {
  return next.toolCallId.endsWith(`-retry-${toolCallId}`);
}

/** Says plainly that a call failed or was not allowed. */
export function sayFailure(
  { toolName, input, outcome }: { toolName: string; input?: unknown; outcome: Outcome | undefined },
): string {
  if (outcome === undefined || outcome.kind === 'value') {
    return `\`${toolName}\`${argumentsOf(input)} has not answered.`;
  }
  const why = outcome.text.trim().replace(/\s+/g, ' ').slice(0, 600).replace(/[.\s]+$/u, '');
  if (outcome.kind === 'denial') return `\`${toolName}\` was not run: it was not approved${why && ` (${why})`}.`;
  return `\`${toolName}\` failed${why === '' ? ' without saying why' : `: ${why}`}.`;
}

function sayResult({ toolName, input }: PastCall, value: unknown): string {
  const call = `\`${toolName}\`${argumentsOf(input)}`;
  if (value === null || value === '') return `${call} returned nothing.`;
  const { source, untrusted, isError, data, content, text } = asRecord(value);
  const said = data ?? (Array.isArray(content) ? textOf(content) : text);
  if (untrusted === true && typeof source === 'string' && said !== undefined) { // of an MCP server or an HTTP API
    if (isError === true) return sayFailure({ toolName, outcome: { kind: 'failure', text: toMarkdown(said) } });
    if (said === '' || said === null) return `**${source}** returned nothing.`;
    return isInline(said)
      ? asSentence(`**${source}** returned: ${toMarkdown(said)}`)
      : `**${source}** returned:\n\n${toMarkdown(said)}`;
  }
  const sentence = summaryOf(value, input) ?? changeOf(value, toolName) ?? listOf(value);
  if (sentence !== undefined) return sentence;
  return isInline(value) ? `${call} returned **${toMarkdown(value)}**.` : `${call} returned:\n\n${toMarkdown(value)}`;
}

function textOf(blocks: readonly unknown[]): string {
  return blocks.map((block) => {
    const words = own(block, 'text') ?? own(block, 'uri');
    return typeof words === 'string' ? words : `(${String(own(block, 'type'))})`;
  }).join('\n\n');
}

function asSentence(text: string): string {
  return /[.!?]$/u.test(text) ? text : `${text}.`;
}

/** Tools that know how to say their result have it in `text`. A text that came with the input is content, not a summary. */
function summaryOf(value: unknown, input: unknown): string | undefined {
  const text = own(value, 'text');
  if (typeof text !== 'string' || !isInline(text) || text.trim() === '' || idOf(value) !== undefined) return undefined;
  if (Object.values(asRecord(input)).includes(text)) return undefined;
  return asSentence(text.trim().replace(/^\p{Ll}(?=\p{Ll}*\s)/u, (letter) => letter.toUpperCase()));
}

function idOf(value: unknown): string | undefined {
  const [, id] = Object.entries(asRecord(value)).find(([key]) => key === 'id' || key.endsWith('Id')) ?? [];
  return typeof id === 'string' || typeof id === 'number' ? String(id) : undefined;
}

/** "Done: **Harbour dues** (`invoice-1`)", for what a tool made or changed. What it read is shown in full. */
function changeOf(value: unknown, toolName: string): string | undefined {
  const id = idOf(value);
  if (id === undefined || /(?:^|_)(?:get|read|find|list|search|show|count|describe|view)(?:_|$)/iu.test(toolName)) {
    return undefined;
  }
  const title = ['title', 'name', 'label', 'subject'].map((key) => own(value, key)).find((one) =>
    typeof one === 'string'
  );
  if (title !== undefined) return `Done: **${toMarkdown(title)}** (\`${id}\`).`;
  return own(value, 'deleted') === true ? `Deleted \`${id}\`.` : undefined;
}

/** A record with one list is that list, under its name. */
function listOf(value: unknown): string | undefined {
  const entries = Object.entries(asRecord(value));
  const [list, second] = entries.filter(([, one]) => Array.isArray(one));
  if (!list || second || entries.some(([, one]) => isRecord(one))) return undefined;
  const [name, items] = [list[0], asList(list[1])];
  if (items.length === 0) return `No ${name}.`;
  const [, total] = entries.find(([key, one]) => key.startsWith('total') && typeof one === 'number') ?? [];
  const count = typeof total === 'number' && total > items.length ? `${items.length} of ${total}` : `${items.length}`;
  return `**${name}** (${count}):\n\n${toMarkdown(items)}`;
}

/** The values of a short input, in brackets. */
function argumentsOf(input: unknown): string {
  const shown = (one: unknown): string => typeof one === 'string' ? one : stringify(one);
  const values = Object.values(asRecord(input)).map((value) => [value].flat().map(shown).join(', '));
  const text = values.join(', ').replace(/\s+/g, ' ');
  return text === '' || text.length > 80 || text.includes('`') ? '' : ` (${text})`;
}

function isInline(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= 120 && !value.includes('\n');
  return typeof value !== 'object' || value === null;
}

/** Tables for lists of records, lists for records and lists, short texts in the line. */
function toMarkdown(value: unknown, depth = 0): string {
  if (Array.isArray(value)) return itemsOf(value, depth);
  if (typeof value === 'object' && value !== null) return fieldsOf(value, depth);
  const text = String(value);
  if (text.length <= most.text) return text;
  return `${text.slice(0, most.text).trimEnd()}… (${text.length - most.text} more characters)`;
}

function itemsOf(items: readonly unknown[], depth: number): string {
  if (items.length === 0) return '(none)';
  const shown = items.slice(0, most.rows);
  const more = items.length > most.rows ? ['', `… and ${items.length - most.rows} more`] : [];
  const columns = items.every(isRecord) && depth < 2
    ? [...new Set(shown.flatMap((item) => Object.keys(asRecord(item))))].slice(0, most.columns)
    : [];
  if (columns.length === 0) return [...shown.map((item) => `- ${cellOf(item)}`), ...more].join('\n');
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rows = shown.map((item) => line(columns.map((column) => cellOf(own(item, column) ?? ''))));
  return [line(columns.map(cellOf)), line(columns.map(() => '---')), ...rows, ...more].join('\n');
}

function fieldsOf(record: object, depth: number): string {
  const entries = Object.entries(record);
  if (entries.length === 0) return '(empty)';
  const lines = entries.slice(0, most.entries).map(([key, value]) => {
    const numbers = asList(value).length <= most.rows && asList(value).every((one) => typeof one === 'number');
    if (Array.isArray(value) && value.length > 0 && numbers) return `- **${cellOf(key)}**: ${value.join(', ')}`;
    if (depth >= 2 || typeof value !== 'object' || value === null) return `- **${cellOf(key)}**: ${cellOf(value)}`;
    return `- **${cellOf(key)}**:\n\n${toMarkdown(value, depth + 1).replaceAll(/^/gmu, '  ')}\n`;
  });
  return [...lines, ...(entries.length > most.entries ? [`- … and ${entries.length - most.entries} more`] : [])].join(
    '\n',
  );
}

/** A value on one line, with what would break a table made harmless. */
function cellOf(value: unknown): string {
  const text = typeof value === 'string' ? value : stringify(value);
  return (text.length > 200 ? `${text.slice(0, 200)}…` : text).replace(/\s*\n\s*/g, ' ').replaceAll('|', '\\|');
}
