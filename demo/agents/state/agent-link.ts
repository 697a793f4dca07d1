/** An agent that comes by a link: shown first, and imported when the person confirms. Nothing of it runs before. */

import { type ReadonlySignal, signal } from '@preact/signals';
import type { ImportReport } from '../../../src/registry/index.ts';
import type { AgentReview } from '../../control/trial-control.ts';
import type { RegistryControl } from '../../control/registry-control.ts';
import { fromLink } from './agent-file.ts';
import { problemOf } from '../../kit/answer-problem.ts';

export interface Arrival {
  readonly review: AgentReview;
  /** What it would change. */
  readonly report: ImportReport;
  /** The names of secrets that are in this browser's vault: the agent would get them. */
  readonly known: readonly string[];
}

export interface AgentLink {
  readonly arrival: ReadonlySignal<Arrival | undefined>;
  readonly problem: ReadonlySignal<string | undefined>;
  readonly isBusy: ReadonlySignal<boolean>;
  /** Reads a link; changes nothing. */
  look(hash: string): Promise<void>;
  /** Imports it and returns the agent's id; `undefined`: it was refused. */
  accept(): Promise<string | undefined>;
}

export function createAgentLink(control: RegistryControl): AgentLink {
  const arrival = signal<Arrival | undefined>(undefined);
  const problem = signal<string | undefined>(undefined);
  const isBusy = signal(false);

  async function read(hash: string): Promise<Arrival> {
    const review = await control.reviewDocument(await fromLink(hash));
    if (!review.ok) throw new Error(textOf(review.error.message));
    const [report, vault] = await Promise.all([control.importAll(review.value.document, true), control.vault()]);
    if (!report.ok) throw new Error(textOf(report.error.message));
    const ids = new Set(vault.ok ? vault.value.secrets.map(({ id }) => id) : []);
    return { review: review.value, report: report.value, known: review.value.secrets.filter((name) => ids.has(name)) };
  }

  return {
    arrival,
    problem,
    isBusy,
    async look(hash) {
      isBusy.value = true;
      problem.value = undefined;
      arrival.value = undefined;
      try {
        arrival.value = await read(hash);
      } catch (error) {
        problem.value = `This link cannot be opened: ${error instanceof Error ? error.message : 'unknown reason'}.`;
      }
      isBusy.value = false;
    },
    async accept() {
      const { value } = arrival;
      if (!value || isBusy.value) return undefined;
      isBusy.value = true;
      const answer = await control.importAll(value.review.document, false).catch(() => undefined);
      isBusy.value = false;
      problem.value = problemOf(answer, 'The registry did not respond');
      return answer?.ok ? value.review.agents[0]?.id : undefined;
    },
  };
}

/** Used in the middle of a sentence. */
function textOf(message: string): string {
  return message.replace(/^Cannot take in the document: /, '');
}
