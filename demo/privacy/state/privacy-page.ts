/** The privacy page: stored data, erase, export, import. */

import { type ReadonlySignal, signal } from '@preact/signals';
import type { Inventory } from './inventory.ts';
import type { parseWhole, WholeReport } from './whole.ts';

type Whole = ReturnType<typeof parseWhole>;

export interface PrivacyWork {
  takeInventory(): Promise<Inventory>;
  /** Erases everything and returns what was left. Reload the page afterwards. */
  erase(): Promise<readonly string[]>;
  /** Everything, as the text of a file. */
  exportAll(): Promise<string>;
  parse(text: string): Whole;
  look(whole: Whole): Promise<WholeReport>;
  importAll(whole: Whole): Promise<void>;
  /** Loads the page and the other tabs anew. */
  reload(): void;
}

/** The page's state. */
export interface PrivacyPage {
  readonly inventory: ReadonlySignal<Inventory | undefined>;
  /** What is going on, in a word. */
  readonly busy: ReadonlySignal<'erase' | 'export' | 'look' | 'import' | undefined>;
  /** The confirmation to erase everything is shown. */
  readonly isAsked: ReadonlySignal<boolean>;
  readonly problem: ReadonlySignal<string | undefined>;
  /** Nothing of the page works any more until it is loaded anew. */
  readonly isSpent: ReadonlySignal<boolean>;
  readonly incoming: ReadonlySignal<{ readonly name: string; readonly report: WholeReport } | undefined>;
  refresh(): Promise<void>;
  ask(isAsked: boolean): void;
  erase(): Promise<void>;
  /** Returns the file's text; `undefined`: it failed, and the page says why. */
  exportAll(): Promise<string | undefined>;
  /** Returns what a file would change. */
  look(file: Pick<File, 'name' | 'text'>): Promise<void>;
  /** Makes the changes that were shown. */
  apply(): Promise<void>;
  forget(): void;
  reload(): void;
}

export function createPrivacyPage(work: PrivacyWork): PrivacyPage {
  const inventory = signal<Inventory | undefined>(undefined);
  const busy = signal<'erase' | 'export' | 'look' | 'import' | undefined>(undefined);
  const isAsked = signal(false);
  const problem = signal<string | undefined>(undefined);
  const isSpent = signal(false);
  const incoming = signal<{ readonly name: string; readonly report: WholeReport } | undefined>(undefined);
  let whole: Whole | undefined;

  async function during<T>(what: NonNullable<typeof busy.value>, doing: () => Promise<T>): Promise<T | undefined> {
    busy.value = what;
    problem.value = undefined;
    try {
      return await doing();
    } catch (error) {
      problem.value = `${error instanceof Error ? error.message : 'It failed for an unknown reason'}.`;
      return undefined;
    } finally {
      busy.value = undefined;
    }
  }

  return {
    inventory,
    busy,
    isAsked,
    problem,
    isSpent,
    incoming,
    async refresh() {
      inventory.value = await work.takeInventory();
    },
    ask: (value) => void (isAsked.value = value),
    async erase() {
      isSpent.value = true;
      const left = await during('erase', () => work.erase());
      isAsked.value = false;
      if (left?.length === 0) return work.reload();
      if (left) problem.value = `Another tab still uses ${left.join(', ')}. Close it, reload, and erase again.`;
    },
    exportAll: () => during('export', () => work.exportAll()),
    async look(file) {
      incoming.value = undefined;
      const report = await during('look', async () => {
        whole = work.parse(await file.text());
        return await work.look(whole);
      });
      if (report) incoming.value = { name: file.name, report };
    },
    async apply() {
      const arriving = whole;
      if (!arriving) return;
      await during('import', async () => {
        await work.importAll(arriving);
        work.reload();
      });
      isSpent.value = true;
    },
    forget() {
      whole = undefined;
      incoming.value = undefined;
      problem.value = undefined;
    },
    reload: () => work.reload(),
  };
}
