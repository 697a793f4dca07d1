import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Playground } from '../../state/playground.ts';
import { kinds } from '../../state/record-forms.ts';
import { nameOf } from '../../state/record-words.ts';
import { createRegistryPages, type RegistryPages } from '../../state/registry-pages.ts';
import { Icon } from '../icon.tsx';
import { Problem } from './problem.tsx';
import { RecordEdit } from './record-edit.tsx';
import { RecordList } from './record-list.tsx';
import { RecordPage } from './record-page.tsx';
import { Sections } from './sections.tsx';
import { TransferSection } from './transfer-section.tsx';
import { VaultSection } from './vault-section.tsx';

/** The registry of the agent's worker, for people: over the chat, which goes on behind it. */
export function RegistryScreen({ playground }: { playground: Playground }): JSX.Element {
  const pages = useMemo(() => pagesOf(playground), [playground]);
  const { opened, form, problem } = pages;
  const back = useRef<HTMLButtonElement>(null);
  const close = (): void => void (playground.registry.isShown.value = false);
  const goBack = (): void => {
    if (form.value) leaveForm(pages, playground);
    else if (opened.value) void pages.close();
    else close();
  };
  useFocus(back, playground);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || event.defaultPrevented || playground.overlay.peek() !== 'none') return;
      event.preventDefault();
      goBack();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [playground]);
  return (
    <main
      class='registry'
      aria-label='Registry'
      data-testid='registry'
      inert={playground.overlay.value === 'drawer'}
    >
      <header class='top-bar'>
        <button
          ref={back}
          type='button'
          class='icon-button registry-back'
          data-testid='registry-back'
          aria-label={form.value && opened.value
            ? 'Back to the record'
            : form.value || opened.value
            ? 'Back to the list'
            : 'Back to the chat'}
          onClick={goBack}
        >
          <Icon name='arrow' />
        </button>
        <h1 class='registry-title'>{titleOf(pages)}</h1>
        {(opened.value || form.value) && (
          <button
            type='button'
            class='icon-button'
            data-testid='registry-close'
            aria-label='Back to the chat'
            onClick={close}
          >
            <Icon name='cross' />
          </button>
        )}
      </header>
      <div class='registry-body'>
        <Problem text={problem.value} testId='registry-problem' />
        <Content pages={pages} />
      </div>
    </main>
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

/** The screen has the focus until it is closed; then the button has it that opens it, or the composer. */
function useFocus(first: { readonly current: HTMLElement | null }, { registry, focusRequests }: Playground): void {
  useLayoutEffect(() => {
    first.current?.focus();
    return () => {
      const opener = document.querySelector<HTMLElement>('[data-testid=open-registry]');
      setTimeout(() => {
        if (registry.isShown.peek() || document.activeElement !== document.body) return;
        if (opener?.checkVisibility?.({ visibilityProperty: true })) opener.focus();
        else focusRequests.value++;
      }, 0);
    };
  }, []);
}

const known = new WeakMap<Playground, RegistryPages>();

/** The same pages for as long as the page lives: closed and opened again, they are as they were. */
function pagesOf(playground: Playground): RegistryPages {
  const pages = known.get(playground) ?? createRegistryPages({
    control: playground.registry.connect(),
    onChanged: () => void playground.refreshAgents().catch(() => undefined), // the chats go on with the cards that there are
    announce: (text) => void (playground.announcement.value = text),
  });
  if (!known.has(playground)) void pages.show('agent');
  known.set(playground, pages);
  return pages;
}
