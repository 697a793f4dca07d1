/** The whole catalogue out, as a document, and in again: first what it would change, then the change. */

import { type ReadonlySignal, signal } from '@preact/signals';
import type { ErrorData } from '../../../src/base/errors.ts';
import type { ImportReport } from '../../../src/registry/index.ts';
import type { RegistryControl } from '../../control/registry-control.ts';
import type { Answer } from '../../control/answer.ts';

/** A document on its way in. */
export interface Incoming {
  readonly name: string;
  /** What it would change, or has changed. */
  readonly report: ImportReport;
}

export interface Transfer {
  readonly incoming: ReadonlySignal<Incoming | undefined>;
  readonly isBusy: ReadonlySignal<boolean>;
  /** Why the latest thing that the person did failed, a reason in a line. */
  readonly problems: ReadonlySignal<readonly string[]>;
  /** Returns the document's text; `undefined`: it failed, and the page says why. */
  exportAll(): Promise<string | undefined>;
  /** Returns what the document would change. */
  look(file: Pick<File, 'name' | 'text'>): Promise<void>;
  /** Makes the changes that were shown. */
  apply(): Promise<void>;
  forget(): void;
}

interface TransferOptions {
  readonly control: Pick<RegistryControl, 'exportAll' | 'importAll'>;
  readonly onChanged: () => void;
  readonly announce: (text: string) => void;
}

export function createTransfer({ control, onChanged, announce }: TransferOptions): Transfer {
  const incoming = signal<Incoming | undefined>(undefined);
  const isBusy = signal(false);
  const problems = signal<readonly string[]>([]);
  let document: unknown;

  async function answerOf<T>(asking: () => Promise<Answer<T>>): Promise<T | undefined> {
    isBusy.value = true;
    const answer = await asking().catch(() => undefined);
    isBusy.value = false;
    problems.value = answer?.ok ? [] : answer ? linesOf(answer.error) : ['The registry did not respond.'];
    return answer?.ok ? answer.value : undefined;
  }

  return {
    incoming,
    isBusy,
    problems,
    async exportAll() {
      const all = await answerOf(() => control.exportAll());
      return all && `${JSON.stringify(all, null, 2)}\n`;
    },
    async look(file) {
      const { name } = file;
      incoming.value = undefined;
      try {
        document = JSON.parse(await file.text());
      } catch (error) {
        const why = error instanceof SyntaxError
          ? 'is not JSON. Choose an exported file.'
          : 'cannot be read. Choose it again.';
        problems.value = [`“${name}” ${why}`];
        return;
      }
      const report = await answerOf(() => control.importAll(document, true));
      if (report) incoming.value = { name, report };
    },
    async apply() {
      const { value } = incoming;
      const report = value && await answerOf(() => control.importAll(document, false));
      if (!report) return;
      incoming.value = { ...value, report };
      announce('The import is done');
      onChanged();
    },
    forget() {
      document = undefined;
      incoming.value = undefined;
      problems.value = [];
    },
  };
}

function linesOf({ message, details }: ErrorData): readonly string[] {
  const issues = (details?.['issues'] ?? []) as readonly { path: string; message: string }[]; // as `parse` returns them
  return [`${message}.`, ...issues.slice(1).map((issue) => `“${issue.path}” ${issue.message}.`)];
}
