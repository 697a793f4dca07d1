/** Where in the registry's pages the person is, as parts of the address: a section, a record, its form. */

import type { RecordKind } from '../../../src/registry/index.ts';
import { kindNames } from './record-forms.ts';
import type { RegistryPages, Section } from './registry-pages.ts';

/** Stands for a record that is being made; no id starts like this. */
const newRecord = '~new';

/** Where the pages are; empty for the list of agents. */
export function placeOf({ section, opened, form, agent }: RegistryPages): readonly string[] {
  const waiting = agent.value?.form === form.value ? undefined : agent.value; // what is made for it has no address
  if (waiting) return ['agent', ...(waiting.form.isNew ? [newRecord] : [waiting.id ?? '', 'edit'])];
  const record = opened.value;
  if (record) return [record.kind, record.found.record.id, ...(form.value ? ['edit'] : [])];
  if (form.value) return [form.value.kind, newRecord];
  return section.value === 'agent' ? [] : [section.value];
}

/** Takes the pages there. A form with changes stays: `onDirty` says so. */
export async function goIn(
  pages: RegistryPages,
  [section = 'agent', id, way]: readonly string[],
  { onDirty }: { readonly onDirty: () => void },
): Promise<void> {
  while (pages.form.peek() ?? pages.agent.peek()) {
    if (!pages.leave()) return onDirty();
  }
  if (!isSection(section)) return;
  const isOther = pages.section.peek() !== section;
  if (id === undefined || isOther) await pages.show(section);
  if (id === undefined || !isKind(section)) return;
  if (id === newRecord) return await pages.start();
  if (pages.opened.peek()?.found.record.id !== id) await pages.open(section, id);
  if (way === 'edit') return pages.form.peek() ? undefined : await pages.edit();
  pages.discard();
}

function isKind(text: string): text is RecordKind {
  return kindNames.some((kind) => kind === text);
}

function isSection(text: string): text is Section {
  return isKind(text) || text === 'vault' || text === 'transfer';
}
