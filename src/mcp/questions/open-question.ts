/** A question that a server of 2025-11-25 asks inside an open call: the call waits for the person, but not for long. */

import { PinnaceError } from '../../base/errors.ts';
import { waitAtMost } from '../../base/timer.ts';
import type { McpAnswer } from '../../contracts/mcp/answers.ts';
import type { AskWhileOpen } from '../../contracts/mcp/interaction.ts';
import type { Report } from '../../events/report.ts';
import { continuationKey } from '../sign-in/continuation.ts';
import { type AskingTool, isAnswered, type QuestionContext, questionInteraction, takeAnswers } from './questions.ts';

/** How long the call waits, within its own time. */
const elicitMs = 120_000;
const pollMs = 200;
const key = 'question';
const canceled: McpAnswer = { action: 'cancel' };

/** Asks, and waits for the answer in the storage, from whichever instance it comes. A question that may not be asked is canceled. */
export async function askOpenQuestion(
  tool: AskingTool,
  params: unknown,
  { ask, signal, report, context }: {
    readonly ask: AskWhileOpen;
    readonly signal: AbortSignal;
    readonly report: Report;
    readonly context: QuestionContext;
  },
): Promise<McpAnswer> {
  const inputRequests = { [key]: { method: 'elicitation/create', params } };
  const interaction = await questionInteraction(tool, { inputRequests }, { round: 1, context }).catch(
    (error: unknown) => {
      if (!(error instanceof PinnaceError)) throw error;
      report(error, { kind: 'mcp', id: tool.server.id }); // the server only learns that there is no answer
      return undefined;
    },
  );
  if (!interaction) return canceled;
  const id = await ask(interaction);
  const until = context.now() + elicitMs;
  while (!signal.aborted && context.now() < until) {
    if (await isAnswered(id, context)) {
      const { responses } = await takeAnswers(id, tool, context);
      return responses.inputResponses[key] ?? canceled;
    }
    await waitAtMost(pollMs, new Promise(() => {}));
  }
  await context.storage.commit([{ key: continuationKey(id) }]); // a late answer is refused
  return canceled;
}
