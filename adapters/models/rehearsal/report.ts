/** What the rehearsal model says about the calls of this turn. */

import { type Outcome, type PastCall, stringify } from './conversation.ts';
import { isInline, toMarkdown } from './markdown.ts';

/** Reports what tools returned. A failure that a later call corrected is mentioned with that call. */
export function reportOn(steps: readonly (readonly PastCall[])[]): string {
  const calls = steps.flat();
  const blocks = calls.filter((call, at) => !isMended(call, calls.slice(at + 1)))
    .map((call) => reportCall(call, { isRetry: calls.some((other) => isMended(other, [call])) }));
  return blocks.join('\n\n').replace(/\n{3,}/g, '\n\n');
}

function isMended(call: PastCall, later: readonly PastCall[]): boolean {
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
  const lead = isRetry ? `At the second try, ${call}` : call;
  if (value === null || value === '') return `${lead} answered with nothing.`;
  return isInline(value) ? `${lead} gave **${toMarkdown(value)}**.` : `${lead} gave:\n\n${toMarkdown(value)}`;
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
