/** Checks a record with the registry's own rules while it is typed. */

import type { RecordKind } from '../../../src/registry/index.ts';
import type { RegistryControl } from '../../control/registry-control.ts';
import type { Answer } from '../../control/answer.ts';

/** How long a person has stopped typing when the record is checked. */
export const checkAfterMs = 400;

/** Checks what was typed last. */
export interface LiveCheck {
  /** Checks the record after a pause, unless it changes again. */
  schedule(): void;
  /** Drops a check that has not started or not answered. */
  cancel(): void;
}

interface LiveCheckOptions {
  readonly check: () => Promise<Answer<unknown>>;
  readonly onAnswer: (answer: Answer<unknown>) => void;
}

/** Creates the check. A check that fails to run reports nothing: saving checks the record again. */
export function createLiveCheck({ check, onAnswer }: LiveCheckOptions): LiveCheck {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let turn = 0;
  async function run(): Promise<void> {
    const mine = ++turn;
    const answer = await check().catch(() => undefined);
    if (answer && mine === turn) onAnswer(answer);
  }
  function cancel(): void {
    clearTimeout(timer);
    turn++;
  }
  return {
    cancel,
    schedule() {
      cancel();
      timer = setTimeout(() => void run(), checkAfterMs);
    },
  };
}

const parts: Readonly<Record<RecordKind, string>> = {
  provider: 'providers',
  dataSource: 'dataSources',
  mcpServer: 'mcpServers',
  tool: 'tools',
  agent: 'agents',
};

/** Fields that the registry maintains. */
const maintained = new Set(['revision', 'createdAt', 'updatedAt', 'tenant', 'boundAgents', 'readOnly']);

/** Stands in for texts that are not written yet, so that the rules beyond the schema are checked too. */
const stillEmpty = { name: 'new_record', description: 'Not written yet' };

/**
 * Returns what the registry says of a record, without writing it: an import that is only tried. Empty fields count only where they were
 * `touched`.
 */
export function tryRecord(
  control: Pick<RegistryControl, 'importAll'>,
  kind: RecordKind,
  { record, touched }: { readonly record: object; readonly touched: ReadonlySet<string> },
): Promise<Answer<unknown>> {
  const fields = Object.entries(record)
    .filter(([name, value]) => !maintained.has(name) && (value !== '' || touched.has(name)));
  const isNamed = kind === 'agent' || kind === 'tool';
  const tried = { id: 'new-record', ...(isNamed && stillEmpty), ...Object.fromEntries(fields) };
  return control.importAll({ format: 'pinnace-catalog', formatVersion: 1, [parts[kind]]: [tried] }, true);
}
