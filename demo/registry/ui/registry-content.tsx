/** What the registry's pages show, wherever the registry is. */

import type { JSX } from 'preact';
import type { Playground } from '../../app/state/playground.ts';
import type { RegistryPages } from '../state/registry-pages.ts';
import { RecordEdit } from './record-edit.tsx';
import { RecordList } from './record-list.tsx';
import { RecordPage } from './record-page.tsx';
import { Sections } from './sections.tsx';
import { TransferSection } from './transfer-section.tsx';
import { VaultSection } from '../../vault/ui/vault-section.tsx';

interface RegistryContentProps {
  readonly pages: RegistryPages;
  /** Opens the builder, where agents are made step by step. */
  readonly onBuild: (() => void) | undefined;
}

/** The list, the record or the form that is open. */
export function RegistryContent({ pages, onBuild }: RegistryContentProps): JSX.Element {
  const opened = pages.opened.value;
  const form = pages.form.value;
  if (form) return <RecordEdit pages={pages} form={form} />;
  if (opened) return <RecordPage key={`${opened.kind} ${opened.found.record.id}`} pages={pages} opened={opened} />;
  return (
    <>
      <Sections pages={pages} />
      <Section pages={pages} onBuild={onBuild} />
    </>
  );
}

function Section({ pages, onBuild }: RegistryContentProps): JSX.Element {
  const section = pages.section.value;
  if (section === 'vault') return <VaultSection vault={pages.vault} />;
  if (section === 'transfer') return <TransferSection transfer={pages.transfer} />;
  return <RecordList pages={pages} kind={section} onNew={section === 'agent' ? onBuild : undefined} />;
}

/** Going back does not throw away what was written: it leads to the button that does. */
export function leaveForm(pages: RegistryPages, { announcement }: Playground): void {
  if (!pages.form.value?.isDirty.value) return pages.discard();
  document.querySelector<HTMLElement>('[data-testid=record-discard]')?.focus();
  announcement.value = 'You have unsaved changes. Save or discard them';
}
