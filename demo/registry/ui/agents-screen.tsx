import type { JSX } from 'preact';
import { followInside } from '../../app/state/inside.ts';
import type { Playground } from '../../app/state/playground.ts';
import type { Where } from '../../app/state/route.ts';
import { showAgents, uncover } from '../../app/state/screens.ts';
import { NoServer, useServer, WhereSwitch } from '../../console/ui/server.tsx';
import { kinds } from '../state/record-forms.ts';
import { nameOf } from '../state/record-words.ts';
import { goIn, placeOf } from '../state/registry-place.ts';
import { createRegistryPages, type RegistryPages } from '../state/registry-pages.ts';
import type { RegistryControl } from '../worker/control.ts';
import { oncePer } from '../../kit/hooks/once-per.ts';
import { OverScreen } from '../../kit/over-screen.tsx';
import { leaveForm, RegistryContent } from './registry-content.tsx';

/** The agents with their tools, MCP servers, models and secrets: of this page, or of the connected server. */
export function AgentsScreen({ playground, where }: { playground: Playground; where: Where }): JSX.Element {
  const server = useServer(playground, where === 'server');
  const pages = where === 'page' ? pagesOf(playground) : server.control && serverPagesOf(playground)(server.control);
  const { opened, form, problem } = pages ?? {};
  const isInside = opened?.value !== undefined || form?.value !== undefined;
  const goBack = (): void => {
    if (pages?.form.peek()) leaveForm(pages, playground);
    else if (pages?.opened.peek()) void pages.close();
    else uncover(playground);
  };
  return (
    <OverScreen
      playground={playground}
      name='agents'
      label='Agents'
      title={pages ? titleOf(pages) : 'Agents'}
      back={form?.value && opened?.value ? 'Back to the record' : isInside ? 'Back to the list' : 'Back to the chat'}
      onBack={goBack}
      problem={problem?.value}
      beside={!isInside && (
        <WhereSwitch
          where={where}
          playground={playground}
          onChoose={(chosen) => showAgents(playground, { where: chosen, section: pages?.section.peek() ?? 'agent' })}
        />
      )}
    >
      {pages
        ? (
          <div class='registry'>
            <RegistryContent
              pages={pages}
              onBuild={where === 'page' ? () => (playground.screen.value = { name: 'builder' }) : undefined}
            />
          </div>
        )
        : <NoServer server={server} playground={playground} />}
    </OverScreen>
  );
}

function titleOf({ form, opened }: RegistryPages): string {
  if (form.value?.isNew) return `New ${kinds[form.value.kind].one}`;
  return opened.value ? nameOf(opened.value.found.record) : 'Agents';
}

/** The pages of this page's worker; at first they show the agents. */
export const pagesOf = oncePer((playground: Playground) =>
  openPages(playground, {
    where: 'page',
    control: playground.registry.connect(),
    onChanged: () => void playground.refreshAgents().catch(() => undefined), // the chats go on with the cards that there are
  })
);

/** The pages of a server. */
const serverPagesOf = oncePer((playground: Playground) =>
  oncePer((control: RegistryControl) => openPages(playground, { where: 'server', control, onChanged: () => undefined }) // the cards of the page are its own worker's
  )
);

function openPages(
  playground: Playground,
  { where, control, onChanged }: {
    readonly where: Where;
    readonly control: RegistryControl;
    readonly onChanged: () => void;
  },
): RegistryPages {
  const pages = createRegistryPages({
    control,
    isHere: where === 'page',
    onChanged,
    announce: (text) => void (playground.announcement.value = text),
  });
  void pages.show('agent');
  followInside({
    at: playground.agentsAt[where],
    read: () => placeOf(pages),
    go: (at) => goIn(pages, at, { onDirty: () => leaveForm(pages, playground) }),
  });
  return pages;
}
