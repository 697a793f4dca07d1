/** The pages of the worker's registry, which live as long as the page does. */

import type { Playground } from '../../state/playground.ts';
import { createRegistryPages, type RegistryPages } from '../../state/registry-pages.ts';
import { oncePer } from '../once-per.ts';

/** Gives the pages; at first they show the agents. */
export const pagesOf: (playground: Playground) => RegistryPages = oncePer((playground: Playground): RegistryPages => {
  const pages = createRegistryPages({
    control: playground.registry.connect(),
    onChanged: () => void playground.refreshAgents().catch(() => undefined), // the chats go on with the cards that there are
    announce: (text) => void (playground.announcement.value = text),
  });
  void pages.show('agent');
  return pages;
});
