/** Where in the registry's pages the person is, as parts of the address: a section, a record, its form. */

import type { JSX } from 'preact';
import type { RecordKind } from '../../../src/registry/index.ts';
import { OverScreen } from '../../app/frame/over-screen.tsx';
import { followInside } from '../../app/state/inside.ts';
import type { Playground } from '../../app/state/playground.ts';
import type { Where } from '../../app/state/route.ts';
import { showAgents, uncover } from '../../app/state/screens.ts';
import type { RegistryControl } from '../../control/registry-control.ts';
import { oncePer } from '../../kit/hooks/once-per.ts';
import { useCurrentInView } from '../../kit/hooks/use-current-in-view.ts';
import { lazy } from '../../kit/lazy.tsx';
import { NoServer, useServer, WhereSwitch } from '../../runs/ui/server.tsx';
import { VaultSection } from '../../vault/ui/vault-section.tsx';
import { kindNames, kinds } from '../state/record-forms.ts';
import { nameOf } from '../state/record-words.ts';
import { RegistryPages, type Section } from '../state/registry-pages.ts';
import { RecordEdit } from './record-edit.tsx';
import { RecordList } from './record-list.tsx';
import { RecordPage } from './record-page.tsx';
import { TransferSection } from './transfer-section.tsx';

/** The agents with their tools, MCP servers, models and secrets: of this page, or of the connected server. */
export function AgentsScreen({ playground, where }: { playground: Playground; where: Where }): JSX.Element {
  const server = useServer(playground, where === 'server');
  const pages = where === 'page' ? pagesOf(playground) : server.control && serverPagesOf(playground)(server.control);
  const { opened, form, agent, problem } = pages ?? {};
  const isInside = opened?.value !== undefined || form?.value !== undefined;
  const isForAgent = agent?.value !== undefined && agent.value.form !== form?.value;
  return (
    <OverScreen
      playground={playground}
      name='agents'
      label='Agents'
      title={pages ? titleOf(pages) : 'Agents'}
      back={isForAgent ? 'Back to the agent' : isInside ? 'Back to the list' : 'Back to the chat'}
      onBack={() => pages && isInside ? void (pages.leave() || warn(playground)) : uncover(playground)}
      problem={problem?.value}
      view={form?.value ? form.value.kind : opened?.value?.found.record.id ?? 'list'}
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
            <Content pages={pages} playground={playground} />
          </div>
        )
        : <NoServer server={server} playground={playground} />}
    </OverScreen>
  );
}

interface ContentProps {
  readonly pages: RegistryPages;
  readonly playground: Playground;
}

/** The list, the record or the form that is open. An agent of this page is tried beside its form. */
function Content({ pages, playground }: ContentProps): JSX.Element {
  const opened = pages.opened.value;
  const form = pages.form.value;
  const agent = pages.agent.value;
  const onTry = pages.isHere ? (agentId: string): void => void chatWith(agentId, playground) : undefined;
  if (form) {
    const edit = <RecordEdit pages={pages} form={form} onTry={onTry} />;
    if (!pages.isHere || agent?.form !== form) return edit;
    return (
      <div class='builder-columns'>
        {edit}
        <PreviewPane draft={agent} playground={playground} />
      </div>
    );
  }
  if (opened) {
    return (
      <RecordPage
        key={`${opened.kind} ${opened.found.record.id}`}
        pages={pages}
        opened={opened}
        onTry={onTry}
      />
    );
  }
  const section = pages.section.value;
  return (
    <>
      <Sections pages={pages} />
      {section === 'vault'
        ? <VaultSection vault={pages.vault} />
        : section === 'transfer'
        ? <TransferSection transfer={pages.transfer} />
        : <RecordList pages={pages} kind={section} />}
    </>
  );
}

const sections: readonly { readonly section: Section; readonly label: string }[] = [
  ...kindNames.map((kind) => ({ section: kind, label: kinds[kind].many })),
  { section: 'vault', label: 'Secrets' },
  { section: 'transfer', label: 'Import and export' },
];

function Sections({ pages }: { pages: RegistryPages }): JSX.Element {
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

async function chatWith(agentId: string, playground: Playground): Promise<void> {
  await playground.refreshAgents();
  uncover(playground);
  playground.chats.start(agentId);
  playground.focusRequests.value++;
}

/** Going back does not throw away what was written: it leads to the button that does. */
function warn({ announcement }: Playground): void {
  document.querySelector<HTMLElement>('[data-testid=record-discard]')?.focus();
  announcement.value = 'You have unsaved changes. Save or discard them';
}

function titleOf({ form, opened }: RegistryPages): string {
  const { isNew, kind, values } = form.value ?? {};
  const { name = '' } = values?.value ?? {};
  if (isNew && kind) return kind === 'agent' && name.trim() !== '' ? name : `New ${kinds[kind].one}`;
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
  const pages = new RegistryPages({
    control,
    isHere: where === 'page',
    onChanged,
    announce: (text) => void (playground.announcement.value = text),
  });
  void pages.show('agent');
  followInside({
    at: playground.agentsAt[where],
    read: () => placeOf(pages),
    go: (at) => goIn(pages, at, { onDirty: () => warn(playground) }),
  });
  return pages;
}

/** The preview brings what shows answers. */
export const PreviewPane = lazy(async () => (await import('./preview-pane.tsx')).PreviewPane);

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
