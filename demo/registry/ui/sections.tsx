import type { JSX } from 'preact';
import { kindNames, kinds } from '../state/record-forms.ts';
import type { RegistryPages, Section } from '../state/registry-pages.ts';
import { useCurrentInView } from '../../kit/hooks/use-current-in-view.ts';

const sections: readonly { readonly section: Section; readonly label: string }[] = [
  ...kindNames.map((kind) => ({ section: kind, label: kinds[kind].many })),
  { section: 'vault', label: 'Secrets' },
  { section: 'transfer', label: 'Import and export' },
];

/** The parts of the registry, one beside the other. */
export function Sections({ pages }: { pages: RegistryPages }): JSX.Element {
  const strip = useCurrentInView<HTMLElement>(pages.section.value);
  return (
    <nav ref={strip} class='tabs' aria-label='Registry sections'>
      <SectionTabs pages={pages} />
    </nav>
  );
}

interface SectionTabsProps {
  readonly pages: RegistryPages;
  /** Whether the registry is what is shown. */
  readonly isShown?: boolean;
  readonly onChoose?: () => void;
}

/** The tabs of the registry, for a row that may have others. */
export function SectionTabs({ pages, isShown = true, onChoose }: SectionTabsProps): JSX.Element {
  const current = isShown ? pages.section.value : undefined;
  return (
    <>
      {sections.filter(({ section }) => pages.isHere || section !== 'vault').map(({ section, label }) => (
        <button
          key={section}
          type='button'
          class='tab'
          data-testid={`registry-tab-${section}`}
          aria-pressed={section === current}
          onClick={() => {
            onChoose?.();
            void pages.show(section);
          }}
        >
          {label}
        </button>
      ))}
    </>
  );
}
