/** What tools did, and what is reported of it. */

import type { ScenarioOutcome } from '../outcome.ts';
import type { ExecutedCall, SentRequest } from '../records.ts';

/** Returns what is wrong: nothing is done twice, and what was done has its outcome in the log. */
export function actionProblems(outcome: ScenarioOutcome): readonly string[] {
  const acted = outcome.calls.filter(isOnce);
  return [
    ...[...Map.groupBy(acted, nameOf)].flatMap(([name, mine]) => {
      const most = Math.max(
        1,
        outcome.reference?.calls.filter((one) => isOnce(one) && nameOf(one) === name).length ?? Infinity,
      );
      return mine.length > most ? [`${name} is executed ${mine.length} times, not ${most}`] : [];
    }),
    ...reportProblems(outcome, acted),
  ];
}

/** Whether a call must not be repeated by the second instance. */
function isOnce({ acts, isRepeatable, phase }: ExecutedCall): boolean {
  return acts && !isRepeatable && phase !== 'after';
}

const nameOf = ({ tool, input }: ExecutedCall): string => `tool.${tool}(${input})`;

/** The second instance reads the log: where a client has left or a storage was away, the first answer is not all of it. */
function reportProblems({ first, retry }: ScenarioOutcome, acted: readonly ExecutedCall[]): readonly string[] {
  const logged = new Set(retry.filter(({ ended }) => !/^(refused|left|open)/.test(ended)).map(({ runId }) => runId));
  if (first.some(({ runId }) => runId !== undefined && !logged.has(runId))) return [];
  const withIds = acted.filter(({ toolCallId }) => toolCallId !== '');
  return [...Map.groupBy(withIds, ({ toolCallId }) => toolCallId)].flatMap(([id, calls]) => {
    const [{ tool }] = calls as [ExecutedCall]; // a group has a member
    const outcomes = retry.filter(({ chunks }) => hasOutcome(chunks, id));
    const canceled = outcomes.filter(({ chunks }) => isCanceled(chunks, id));
    if (outcomes.length < calls.length) return [`${tool} is executed, and the log has no outcome of its call`];
    return outcomes.length - canceled.length < calls.length ? [`${tool} is executed, and reported as canceled`] : [];
  });
}

function hasOutcome(chunks: SentRequest['chunks'], id: string): boolean {
  return chunks.some((chunk) =>
    /^tool-output-(available|error|denied)$/.test(chunk.type) && 'toolCallId' in chunk && chunk.toolCallId === id
  );
}

function isCanceled(chunks: SentRequest['chunks'], id: string): boolean {
  return chunks.some((chunk) => {
    if (chunk.type !== 'data-tool-error') return false;
    const { toolCallId, code } = chunk.data as { readonly toolCallId?: string; readonly code?: string }; // the runtime's own data
    return toolCallId === id && code === 'cancelled';
  });
}
