import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { kindNames, kinds } from '../../state/record-forms.ts';
import type { RegistryPages, Section } from '../../state/registry-pages.ts';

const sections: readonly { readonly section: Section; readonly label: string }[] = [
  ...kindNames.map((kind) => ({ section: kind, label: kinds[kind].many })),
  { section: 'vault', label: 'Secrets' },
  { section: 'transfer', label: 'Import and export' },
];

/** The parts of the registry, one beside the other. */
export function Sections({ pages }: { pages: RegistryPages }): JSX.Element {
  const element = useRef<HTMLElement>(null);
  const current = pages.section.value;
  useEffect(() => {
    const tab = element.current?.querySelector('[aria-pressed=true]');
    tab?.scrollIntoView?.({ block: 'nearest', inline: 'nearest' }); // they may not all fit
  }, [current]);
  return (
    <nav ref={element} class='registry-tabs' aria-label='Parts of the registry'>
      {sections.filter(({ section }) => pages.isHere || section !== 'vault').map(({ section, label }) => (
        <button
          key={section}
          type='button'
          class='registry-tab'
          data-testid={`registry-tab-${section}`}
          aria-pressed={section === current}
          onClick={() => void pages.show(section)}
        >
          {label}
        </button>
      ))}
    </nav>
  );
}
