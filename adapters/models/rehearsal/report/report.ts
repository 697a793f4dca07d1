/** What the rehearsal model says about the calls of this turn. */

import { asRecord, isRecord } from '../../../../src/base/is-record.ts';
import { type Outcome, type PastCall, stringify } from '../conversation.ts';
import { externalAnswer } from './external-answer.ts';
import { isInline, toMarkdown } from './markdown.ts';
import { own } from '../shape.ts';
import { wordsOf } from '../words.ts';

/** Reports what tools returned. A failure that a later call corrected is mentioned with that call. */
export function reportOn(steps: readonly (readonly PastCall[])[]): string {
  const calls = steps.flat();
  const blocks = calls.filter((call, at) => !isCorrected(call, calls.slice(at + 1)))
    .map((call) => reportCall(call, { isRetry: calls.some((other) => isCorrected(other, [call])) }));
  return blocks.join('\n\n').replace(/\n{3,}/g, '\n\n');
}

function isCorrected(call: PastCall, later: readonly PastCall[]): boolean {
  return call.outcome?.kind === 'failure' && later.some((next) => isRetryOf(next, call));
}

/** Whether a call is the second try of another. */
export function isRetryOf(next: PastCall, { toolCallId }: PastCall): boolean {
  return next.toolCallId.endsWith(`-retry-${toolCallId}`);
}

function reportCall({ toolName, input, outcome }: PastCall, { isRetry }: { isRetry: boolean }): string {
  const call = `\`${toolName}\`${argumentsOf(input)}`;
  if (outcome === undefined) return `${call} has not answered.`;
  if (outcome.kind !== 'value') return sayFailure(toolName, outcome);
  const { value } = outcome;
  const lead = isRetry ? 'At the second try: ' : '';
  if (value === null || value === '') return `${lead}${call} returned nothing.`;
  const external = externalAnswer(value);
  if (external?.isError) {
    return sayFailure(toolName, { kind: 'failure', text: toMarkdown(external.said), data: undefined });
  }
  if (external) return `${lead}${sayAnswer(external.source, external.said)}`;
  const sentence = summaryOf(value, input) ?? recordOf(value, toolName) ?? listOf(value);
  if (sentence !== undefined) return `${lead}${sentence}`;
  return isInline(value)
    ? `${lead}${call} returned **${toMarkdown(value)}**.`
    : `${lead}${call} returned:\n\n${toMarkdown(value)}`;
}

/** "**files** returned: 3 files." */
function sayAnswer(source: string, said: unknown): string {
  if (said === '' || said === null) return `**${source}** returned nothing.`;
  if (!isInline(said)) return `**${source}** returned:\n\n${toMarkdown(said)}`;
  return asSentence(`**${source}** returned: ${toMarkdown(said)}`);
}

function asSentence(text: string): string {
  return /[.!?]$/u.test(text) ? text : `${text}.`;
}

/** Tools that know how to say their result have it in `text`. A text that came with the input is content, not a summary. */
function summaryOf(value: unknown, input: unknown): string | undefined {
  const text = own(value, 'text');
  if (typeof text !== 'string' || !isInline(text) || text.trim() === '' || idOf(value) !== undefined) return undefined;
  if (Object.values(asRecord(input)).includes(text)) return undefined;
  const said = text.trim().replace(/^\p{Ll}(?=\p{Ll}*\s)/u, (letter) => letter.toUpperCase());
  return asSentence(said);
}

function idOf(value: unknown): string | undefined {
  const [, id] = Object.entries(asRecord(value)).find(([key]) => key === 'id' || key.endsWith('Id')) ?? [];
  return typeof id === 'string' || typeof id === 'number' ? String(id) : undefined;
}

const reading = /^(?:get|read|find|list|search|show|count|describe|view)$/u;

/** "Done: **Harbour dues** (`invoice-1`)", for what a tool made or changed. What it read is shown in full. */
function recordOf(value: unknown, toolName: string): string | undefined {
  const id = idOf(value);
  if (id === undefined || wordsOf(toolName).some((word) => reading.test(word))) return undefined;
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
  const [name, items] = list as [string, readonly unknown[]]; // safe: filtered
  if (items.length === 0) return `No ${name}.`;
  const [, total] = entries.find(([key, one]) => key.startsWith('total') && typeof one === 'number') ?? [];
  const count = typeof total === 'number' && total > items.length ? `${items.length} of ${total}` : `${items.length}`;
  return `**${name}** (${count}):\n\n${toMarkdown(items)}`;
}

/** The values of a short input, in brackets. */
function argumentsOf(input: unknown): string {
  const values = typeof input === 'object' && input !== null ? Object.values(input) : [];
  const text = values.map((value) =>
    [value].flat().map((one) => typeof one === 'string' ? one : stringify(one)).join(', ')
  ).join(', ').replace(
    /\s+/g,
    ' ',
  );
  return text === '' || text.length > 80 || text.includes('`') ? '' : ` (${text})`;
}

/** Says plainly that a call failed or was not allowed. */
export function sayFailure(toolName: string, { kind, text }: Exclude<Outcome, { kind: 'value' }>): string {
  const why = text.trim().replace(/\s+/g, ' ').slice(0, 600).replace(/[.\s]+$/u, '');
  if (kind === 'denial') return `\`${toolName}\` was not run: it was not approved${why === '' ? '' : ` (${why})`}.`;
  return `\`${toolName}\` failed${why === '' ? ' without saying why' : `: ${why}`}.`;
}
