import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { agentOf, type Playground, showBeside } from '../state/playground.ts';
import { Dialog } from './dialog.tsx';
import { chatFind } from './find/chat-find.ts';
import { Icon, type IconName } from './icon.tsx';
import { isCovered, uncover } from './over-chat.ts';

interface Destination {
  readonly id: string;
  readonly icon: IconName;
  readonly title: string;
  readonly hint: string;
  readonly go: () => void;
}

/** Finds a chat, an agent or a setting by a few letters. */
export function Switcher({ playground }: { playground: Playground }): JSX.Element {
  const { overlay, focusRequests } = playground;
  const query = useSignal('');
  const at = useSignal(0);
  const found = destinations(playground).filter(({ title, hint }) => matches(`${title} ${hint}`, query.value));
  const chosen = Math.min(at.value, found.length - 1);

  const go = (destination: Destination | undefined): void => {
    if (!destination) return;
    overlay.value = 'none';
    destination.go();
    if (overlay.peek() === 'none' && !isCovered(playground)) focusRequests.value++;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined) at.value = (chosen + step + found.length) % Math.max(1, found.length);
    else if (event.key === 'Enter') go(found[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog class='switcher' label='Go to' testId='switcher' onClose={() => (overlay.value = 'none')}>
      <div class='switcher-field'>
        <Icon name='search' />
        <input
          type='text'
          role='combobox'
          aria-label='Find a chat or an agent'
          aria-expanded='true'
          aria-controls='destinations'
          aria-activedescendant={found[chosen] && `go-${found[chosen].id}`}
          placeholder='Find a chat or an agent'
          autocomplete='off'
          data-testid='switcher-query'
          value={query.value}
          onInput={({ currentTarget }) => {
            query.value = currentTarget.value;
            at.value = 0;
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <Destinations found={found} chosen={chosen} onPoint={(i) => (at.value = i)} onGo={go} />
      {found.length === 0 && <p class='switcher-empty'>Nothing is called that.</p>}
    </Dialog>
  );
}

interface DestinationsProps {
  readonly found: readonly Destination[];
  readonly chosen: number;
  readonly onPoint: (index: number) => void;
  readonly onGo: (destination: Destination) => void;
}

function Destinations({ found, chosen, onPoint, onGo }: DestinationsProps): JSX.Element {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => list.current?.children[chosen]?.scrollIntoView({ block: 'nearest' }), [chosen]);
  return (
    <ul id='destinations' role='listbox' aria-label='Destinations' ref={list}>
      {found.map((destination, i) => (
        <li
          key={destination.id}
          id={`go-${destination.id}`}
          role='option'
          aria-selected={i === chosen}
          data-testid='destination'
          onMouseMove={() => onPoint(i)}
          onClick={() => onGo(destination)}
        >
          <Icon name={destination.icon} />
          <span>{destination.title}</span>
          <span class='hint'>{destination.hint}</span>
        </li>
      ))}
    </ul>
  );
}

function destinations(playground: Playground): readonly Destination[] {
  const { agents, chats, overlay, registry, inspector, workshop } = playground;
  const others = chats.list.value.filter((chat) => chat !== chats.current.value);
  return [
    ...agents.map(({ id, name }): Destination => ({
      id: `agent-${id}`,
      icon: 'plus',
      title: `New chat with ${name}`,
      hint: 'Agent',
      go: () => {
        uncover(playground);
        chats.begin(id);
      },
    })),
    ...others.map((chat): Destination => ({
      id: `chat-${chat.id}`,
      icon: 'arrow',
      title: chat.title.value || 'Untitled',
      hint: agentOf(agents, chat.agentId.value).name,
      go: () => {
        uncover(playground);
        void chats.open(chat.id);
      },
    })),
    ...(chats.current.value.messages.value.length > 0
      ? [
        {
          id: 'find',
          icon: 'search',
          title: 'Search in this chat',
          hint: 'Chat',
          go: () => {
            uncover(playground);
            setTimeout(() => chatFind(chats.current.value).open(), 0); // the dialog gives the focus back first
          },
        } satisfies Destination,
      ]
      : []),
    {
      id: 'new-agent',
      icon: 'plus',
      title: 'New agent of your own',
      hint: 'Page',
      go: () => (workshop.value = { type: 'builder' }),
    },
    {
      id: 'compare',
      icon: 'columns',
      title: 'Compare two agents or models side by side',
      hint: 'Page',
      go: () => (workshop.value = { type: 'compare' }),
    },
    {
      id: 'registry',
      icon: 'records',
      title: 'Registry of agents and tools',
      hint: 'Page',
      go: () => (registry.isShown.value = true),
    },
    {
      id: 'knowledge',
      icon: 'book',
      title: 'Knowledge',
      hint: 'Panel',
      go: () => showBeside(playground, 'knowledge'),
    },
    {
      id: 'runs',
      icon: 'waterfall',
      title: 'Runs: what happened in them',
      hint: 'Page',
      go: () => (inspector.shown.value = {}),
    },
    {
      id: 'privacy',
      icon: 'lock',
      title: 'Privacy and data: what is kept, export, import, erase',
      hint: 'Page',
      go: () => (playground.privacy.isShown.value = true),
    },
    {
      id: 'tour',
      icon: 'play',
      title: 'Tour: two minutes of real runs',
      hint: 'Tour',
      go: () => (playground.tour.isShown.value = true),
    },
    { id: 'model', icon: 'lock', title: 'Model settings', hint: 'Settings', go: () => (overlay.value = 'settings') },
  ];
}

function matches(text: string, query: string): boolean {
  const words = query.toLowerCase().split(/\s+/);
  return words.every((word) => text.toLowerCase().includes(word));
}
