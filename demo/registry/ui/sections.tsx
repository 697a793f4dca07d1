import type { JSX } from 'preact';
import { kindNames, kinds } from '../state/record-forms.ts';
import type { RegistryPages, Section } from '../state/registry-pages.ts';
import { useCurrentInView } from '../../kit/hooks/use-current-in-view.ts';

const sections: readonly { readonly section: Section; readonly label: string }[] = [
  ...kindNames.map((kind) => ({ section: kind, label: kinds[kind].many })),
  { section: 'vault', label: 'Secrets' },
  { section: 'transfer', label: 'Import and export' },
];

/** The sections of the agents' page, one beside the other. */
export function Sections({ pages }: { pages: RegistryPages }): JSX.Element {
  const strip = useCurrentInView<HTMLElement>(pages.section.value);
  return (
    <nav ref={strip} class='tabs' aria-label='Parts of agents'>
      {sections.filter(({ section }) => pages.isHere || section !== 'vault').map(({ section, label }) => (
        <button
          key={section}
          type='button'
          class='tab'
          data-testid={`registry-tab-${section}`}
          aria-pressed={section === pages.section.value}
          onClick={() => void pages.show(section)}
        >
          {label}
        </button>
      ))}
    </nav>
  );
}
