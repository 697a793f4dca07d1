import type { JSX } from 'preact';
import type { Playground } from '../../state/playground.ts';
import { kinds } from '../../state/record-forms.ts';
import { nameOf } from '../../state/record-words.ts';
import type { RegistryPages } from '../../state/registry-pages.ts';
import { OverScreen } from '../over-screen.tsx';
import { pagesOf } from './pages-of.ts';
import { RecordEdit } from './record-edit.tsx';
import { RecordList } from './record-list.tsx';
import { RecordPage } from './record-page.tsx';
import { Sections } from './sections.tsx';
import { TransferSection } from './transfer-section.tsx';
import { VaultSection } from './vault-section.tsx';

/** The registry of the agent's worker, for people: over the chat, which goes on behind it. */
export function RegistryScreen({ playground }: { playground: Playground }): JSX.Element {
  const pages = pagesOf(playground);
  const { opened, form, problem } = pages;
  const close = (): void => void (playground.registry.isShown.value = false);
  const goBack = (): void => {
    if (form.peek()) leaveForm(pages, playground);
    else if (opened.peek()) void pages.close();
    else close();
  };
  const isInside = opened.value !== undefined || form.value !== undefined;
  return (
    <OverScreen
      playground={playground}
      name='registry'
      label='Registry'
      title={titleOf(pages)}
      back={form.value && opened.value ? 'Back to the record' : isInside ? 'Back to the list' : 'Back to the chat'}
      onBack={goBack}
      onClose={isInside ? close : undefined}
      problem={problem.value}
    >
      <Content pages={pages} />
    </OverScreen>
  );
}

function titleOf({ form, opened }: RegistryPages): string {
  if (form.value?.isNew) return `New ${kinds[form.value.kind].one}`;
  return opened.value ? nameOf(opened.value.found.record) : 'Registry';
}

function Content({ pages }: { pages: RegistryPages }): JSX.Element {
  const opened = pages.opened.value;
  const form = pages.form.value;
  if (form) return <RecordEdit pages={pages} form={form} />;
  if (opened) return <RecordPage key={`${opened.kind} ${opened.found.record.id}`} pages={pages} opened={opened} />;
  return (
    <>
      <Sections pages={pages} />
      <Section pages={pages} />
    </>
  );
}

function Section({ pages }: { pages: RegistryPages }): JSX.Element {
  const section = pages.section.value;
  if (section === 'vault') return <VaultSection vault={pages.vault} />;
  if (section === 'transfer') return <TransferSection transfer={pages.transfer} />;
  return <RecordList pages={pages} kind={section} />;
}

/** Going back does not throw away what was written: it leads to the button that does. */
function leaveForm(pages: RegistryPages, { announcement }: Playground): void {
  if (!pages.form.value?.isDirty.value) return pages.discard();
  document.querySelector<HTMLElement>('[data-testid=record-discard]')?.focus();
  announcement.value = 'There are changes: save them, or discard them';
}
