import type { JSX } from 'preact';
import { followInside } from '../../app/state/inside.ts';
import type { Playground } from '../../app/state/playground.ts';
import { kinds } from '../state/record-forms.ts';
import { nameOf } from '../state/record-words.ts';
import { goIn, placeOf } from '../state/registry-place.ts';
import { createRegistryPages, type RegistryPages } from '../state/registry-pages.ts';
import { oncePer } from '../../kit/hooks/once-per.ts';
import { OverScreen } from '../../kit/over-screen.tsx';
import { leaveForm, RegistryContent } from './registry-content.tsx';

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
      <RegistryContent pages={pages} />
    </OverScreen>
  );
}

function titleOf({ form, opened }: RegistryPages): string {
  if (form.value?.isNew) return `New ${kinds[form.value.kind].one}`;
  return opened.value ? nameOf(opened.value.found.record) : 'Registry';
}

/** Returns the pages; at first they show the agents. */
export const pagesOf: (playground: Playground) => RegistryPages = oncePer((playground: Playground): RegistryPages => {
  const pages = createRegistryPages({
    control: playground.registry.connect(),
    onChanged: () => void playground.refreshAgents().catch(() => undefined), // the chats go on with the cards that there are
    announce: (text) => void (playground.announcement.value = text),
  });
  void pages.show('agent');
  followInside({
    at: playground.registry.at,
    read: () => placeOf(pages),
    go: (at) => goIn(pages, at, { onDirty: () => leaveForm(pages, playground) }),
  });
  return pages;
});
