/** What a report says, in words. */

import type { CaseChange } from '../../../src/evals/run-evals.ts';
import type { CaseReport } from '../../../src/evals/evaluate.ts';
import { formatCount } from '../../kit/format.ts';
import type { EvalSetting, StoredReport } from '../../control/evals-control.ts';

/** `3:04:05 PM: as now, navigator revision 2`. */
export function nameOfReport({ at, setting, revisions }: StoredReport): string {
  const time = new Date(at).toLocaleTimeString('en');
  const agents = Object.entries(revisions).map(([id, revision]) => `${id} revision ${revision}`).join(', ');
  return [`${time}: ${setting.agent === 'recorded' ? 'as recorded' : 'as now'}`, agents, modelOf(setting)].filter((
    part,
  ) => part !== '').join(', ');
}

function modelOf({ model }: EvalSetting): string {
  return model ? [model.providerId, model.modelId].filter((part) => part !== undefined).join(' ') : '';
}

/** `2 passed, 1 failed`. */
export function totalsOf({ report: { passed, failed, misses } }: StoredReport): string {
  const missing = misses > 0 ? `, ${formatCount(misses, 'answer')} not recorded` : '';
  return `${passed} passed, ${failed} failed${missing}`;
}

const changes: Readonly<Record<CaseChange['change'], string>> = {
  better: 'better',
  worse: 'worse',
  same: 'same result',
  new: 'new',
  removed: 'removed',
};

export function changeWord(change: CaseChange['change'] | undefined): string {
  return change === undefined ? '' : changes[change];
}

/** Why a case did not pass; empty when it did. */
export function whyNot({ findings, run }: CaseReport): string {
  if (run.error?.details?.['reason'] === 'tape_miss') {
    return 'The model’s answer is not recorded. Run with “Call the model for missing answers”.';
  }
  const messages = findings.filter(({ pass }) => !pass).map(({ message }) => message);
  return [...messages, ...(run.error ? [run.error.message] : [])].map((text) => `${text}.`).join(' ');
}

export function tokensOf({ run: { usage } }: CaseReport): number {
  return Number(usage['totalTokens'] ?? 0);
}
