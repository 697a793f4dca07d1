/** The check of an MCP server: what it offers now, what a person says of it, and the approval. */

import { type ReadonlySignal, signal } from '@preact/signals';
import type { McpValidation, McpValidationInput } from '../../../src/registry/index.ts';
import type { Answer } from '../../control/answer.ts';
import { problemOf } from '../../kit/answer-problem.ts';

/** What a tool does, as the person who approves it says. */
export type Effect = 'read' | 'write' | 'destructive';

export interface McpCheck {
  /** `undefined` before the first look. */
  readonly report: ReadonlySignal<McpValidation | undefined>;
  readonly isBusy: ReadonlySignal<boolean>;
  /** Why the latest look or approval failed. */
  readonly problem: ReadonlySignal<string | undefined>;
  /** What the person says of tools; of the others, what was said when they were approved before. */
  readonly effects: ReadonlySignal<Readonly<Record<string, Effect>>>;
  readonly leftOut: ReadonlySignal<readonly string[]>;
  look(): Promise<void>;
  setEffect(tool: string, effect: Effect): void;
  /** Looks again, for what is left out is not judged. */
  toggle(tool: string): Promise<void>;
  /** Pins what the report shows; whatever the server offers by then, nothing else. */
  approve(): Promise<void>;
}

interface McpCheckOptions {
  readonly validate: (request: McpValidationInput) => Promise<Answer<McpValidation>>;
  /** Called after the server's record was written. */
  readonly onApproved: () => Promise<void>;
}

/** Creates the check. Calls nothing before `look`. */
export function createMcpCheck({ validate, onApproved }: McpCheckOptions): McpCheck {
  const report = signal<McpValidation | undefined>(undefined);
  const isBusy = signal(false);
  const problem = signal<string | undefined>(undefined);
  const effects = signal<Readonly<Record<string, Effect>>>({});
  const leftOut = signal<readonly string[]>([]);

  async function send(request: McpValidationInput): Promise<McpValidation | undefined> {
    isBusy.value = true;
    const answer = await validate({ ...request, leaveOut: [...leftOut.value] }).catch(() => undefined);
    isBusy.value = false;
    problem.value = problemOf(answer, 'The registry did not respond');
    if (answer?.ok) report.value = answer.value;
    return answer?.ok ? answer.value : undefined;
  }

  async function look(): Promise<void> {
    await send({});
  }

  return {
    report,
    isBusy,
    problem,
    effects,
    leftOut,
    look,
    setEffect(tool, effect) {
      effects.value = { ...effects.value, [tool]: effect };
    },
    async toggle(tool) {
      const isOut = leftOut.value.includes(tool);
      leftOut.value = isOut ? leftOut.value.filter((name) => name !== tool) : [...leftOut.value, tool];
      await look();
    },
    async approve() {
      const shown = report.value;
      if (!shown) return;
      const offered = new Set(shown.tools.map(({ name }) => name));
      const said = Object.entries(effects.value).filter(([name]) => offered.has(name));
      const answer = await send({ approve: true, digest: shown.digest, effects: Object.fromEntries(said) });
      if (answer) await onApproved();
    },
  };
}
