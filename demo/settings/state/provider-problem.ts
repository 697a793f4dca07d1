/** What an error of a model's provider means, where its own words are finer than its code. Fetched with the first such error. */

import { describeProblem, type Problem } from '../../chat/state/problem.ts';
import type { ErrorShape } from '../../chat/state/run-data.ts';

const missingModel: Problem = {
  title: 'The server does not have this model',
  advice: 'Check the name of the model, and that the server address ends with “/v1”.',
  remedies: ['settings'],
};

/** What providers say about errors that have the same code, and which problem each is. The first that fits counts. */
const byWords: Readonly<Record<string, readonly (readonly [RegExp, Problem])[]>> = {
  provider_rate_limited: [
    [/\b(?:quota|billing|credits?|balance|payment|insufficient)\b/i, {
      title: 'The account has no quota left',
      advice: 'Waiting does not help. Check the plan and the balance at the provider, or connect another model.',
      remedies: ['settings', 'retry'],
    }],
  ],
  provider_invalid_request: [
    [
      /\bcontext[ _-]*(?:length|window|size)\b|\btoo many tokens\b|\bprompt is too long\b|\b(?:maximum|max)\b.*\btokens\b/i,
      describeProblem({ code: '', message: '', retryable: false, details: { reason: 'context_overflow' } }),
    ],
    [
      /\b(?:tools?|functions?)\b.*\b(?:not supported|unsupported)\b|\bsupport (?:the use of )?(?:tools?|functions?)\b|\bsupport tool/i,
      {
        title: 'This model cannot use tools',
        advice: 'Connect a model that can, or start a chat with an agent that has no tools.',
        remedies: ['settings'],
      },
    ],
    [/\bmodel\b.*\bnot (?:exist|found)\b|\b(?:not a valid|no such|unknown|invalid) model\b/i, missingModel],
  ],
};

/** Returns the finer problem, if what the provider said, or its status, tells which it is. */
export function providerProblem({ details }: ErrorShape, said: string | undefined): Problem | undefined {
  const reason = String(details?.['reason']);
  const found = Object.hasOwn(byWords, reason) && said !== undefined
    ? byWords[reason]?.find(([words]) => words.test(said))?.[1]
    : undefined;
  return found ?? (reason === 'provider_invalid_request' && details?.['status'] === 404 ? missingModel : undefined);
}
