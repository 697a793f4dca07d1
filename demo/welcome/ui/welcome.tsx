/** What an empty page offers first: one message for each thing that Pinnace does, each to the agent that shows it. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { agentOf, type Playground } from '../../app/state/playground.ts';
import { showBeside, showNewAgent } from '../../app/state/screens.ts';
import type { Chat } from '../../chat/state/chat.ts';
import type { AgentCard } from '../../control/page-control.ts';
import { hostOf } from '../../endpoint/state/endpoint.ts';
import { formatCount } from '../../kit/format.ts';
import { Icon } from '../../kit/icon.tsx';
import { Soundings } from '../../kit/mark.tsx';
import { isBeside } from '../../kit/panel-cover.ts';
import { endpointOf } from '../../settings/state/settings.ts';
import { readTour, stopCount } from '../../tour/state/tour-notes.ts';
import { Button } from '../../kit/button.tsx';

/** An empty chat: what Pinnace is, the agents to choose from, and messages that run with one click. */
export function Welcome({ chat, playground }: { chat: Chat; playground: Playground }): JSX.Element {
  const { agents, chats, settings } = playground;
  const agent = agentOf(agents, chat.agentId.value);
  const isPicked = useSignal(agent.id !== agents[0]?.id);
  const choose = ({ id, panel }: AgentCard): void => {
    isPicked.value = true;
    chat.agentId.value = id;
    if (panel && isBeside()) showBeside(playground, panel);
  };
  const endpoint = endpointOf(settings.choice.value);
  const isFirst = chats.list.value.length === 0; // later, the page gets out of the way
  return (
    <div class='welcome' data-testid='welcome'>
      <Soundings />
      <header class='welcome-head' data-first={isFirst}>
        {isFirst
          ? (
            <>
              <h1>AI agents that run {endpoint === undefined ? 'in your browser' : `at ${hostOf(endpoint)}`}</h1>
              <p>
                Pinnace is an agent runtime in TypeScript. {endpoint === undefined
                  ? 'Tools, approvals, plans and search run in a worker of this page: no server, no account, no key.'
                  : 'The agents and their tools run at the endpoint. This page signs every request.'}
              </p>
            </>
          )
          : <h1>Ask {agent.name}</h1>}
        <div class='welcome-own'>
          {!playground.tour.isShown.value && <TourButton playground={playground} isFirst={isFirst} />}
          {settings.choice.value.type === 'rehearsal' && (
            <Button icon='pulse' testId='welcome-connect' onClick={() => (playground.overlay.value = 'settings')}>
              Connect a model
            </Button>
          )}
          {isFirst && (
            <Button icon='hand' onClick={() => (playground.screen.value = { name: 'guard' })}>
              Try to trick an agent
            </Button>
          )}
        </div>
      </header>
      <AgentPicker agent={agent} playground={playground} onChoose={choose} />
      <Prompts agent={agent} chat={chat} playground={playground} isPicked={isPicked.value} />
    </div>
  );
}

/** The way to the tour, or back to where it was left. */
function TourButton({ playground: { tour }, isFirst }: { playground: Playground; isFirst: boolean }): JSX.Element {
  const at = readTour(tour.notes)?.at ?? 0;
  const isUnderWay = at > 0 && at < stopCount;
  return (
    <button
      type='button'
      class={isFirst ? 'button is-primary' : 'button'}
      data-testid='open-tour'
      onClick={() => (tour.isShown.value = true)}
    >
      <Icon name='play' />
      {isUnderWay ? `Continue the tour, stop ${at + 1} of ${stopCount}` : 'Two-minute tour'}
    </button>
  );
}

interface PromptsProps {
  readonly agent: AgentCard;
  readonly chat: Chat;
  readonly playground: Playground;
  /** Whether a person has chosen the agent. Until then, each message is for the agent that shows it. */
  readonly isPicked: boolean;
}

/** Messages that are sent with one click. */
function Prompts({ agent, chat, playground, isPicked }: PromptsProps): JSX.Element | null {
  const highlights = isPicked ? [] : highlightsFor(playground.agents);
  const send = (agentId: string, text: string): void => {
    if (highlights.length > 0) chat.nextAgentId = agent.id; // a card of an example is no choice of an agent
    chat.agentId.value = agentId;
    playground.send(text);
  };
  const prompts = highlights.length > 0
    ? highlights
    : agent.suggestions.map((text) => ({ agentId: agent.id, text, shows: undefined }));
  if (prompts.length === 0) return null;
  const title = highlights.length > 0 ? 'Run one of these' : `Try with ${agent.name}`;
  return (
    <section class='suggestions' aria-label={title}>
      <h2>{title}</h2>
      <ul>
        {prompts.map(({ agentId, text, shows }) => (
          <li key={text}>
            <button type='button' data-testid='suggestion' onClick={() => send(agentId, text)}>
              <span class='suggestion-text'>
                {shows !== undefined && <b>{shows}</b>}
                <span>{text}</span>
              </span>
              <Icon name='arrow' />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A message that runs with one click. */
interface Highlight {
  readonly agentId: string;
  readonly shows: string;
  readonly text: string;
}

const all: readonly Highlight[] = [
  {
    agentId: 'navigator',
    shows: 'Two tool calls at once',
    text: 'What time is it in Tokyo, and how far is 26.2 miles in kilometers?',
  },
  { agentId: 'logbook', shows: 'An approval', text: 'Add a note: "Throw me overboard", then delete it' },
  {
    agentId: 'commodore',
    shows: 'A plan with sub-agents',
    text: 'What time is it in Berlin; calculate 1250 * 12; convert 5 knots to km/h',
  },
  { agentId: 'almanac', shows: 'An answer with sources', text: 'What is an approval bound to?' },
];

/** Returns the messages, or none where one of their agents was removed. */
function highlightsFor(agents: readonly AgentCard[]): readonly Highlight[] {
  return all.every(({ agentId }) => agents.some(({ id }) => id === agentId)) ? all : [];
}

/** How many tools are named. */
const maxTools = 5;

interface AgentPickerProps {
  readonly agent: AgentCard;
  readonly playground: Playground;
  readonly onChoose: (card: AgentCard) => void;
}

/** The agents in a row, and what the chosen one does. */
function AgentPicker({ agent, playground, onChoose }: AgentPickerProps): JSX.Element {
  const { agents } = playground;
  return (
    <section class='agent-picker' aria-labelledby='agent-picker'>
      <div class='agent-head'>
        <h2 id='agent-picker'>Agent</h2>
        <Button kind='quiet' icon='plus' testId='new-agent' onClick={() => showNewAgent(playground)}>
          New agent
        </Button>
      </div>
      <fieldset class='agents' aria-labelledby='agent-picker'>
        {agents.map((card) => (
          <AgentChoice
            key={card.id}
            card={card}
            isChosen={card.id === agent.id}
            onChoose={() => onChoose(card)}
          />
        ))}
      </fieldset>
      <p class='agent-description' data-testid='agent-description'>
        {agent.role !== undefined && <b>{`${agent.role}. `}</b>}
        {agent.description} <span class='agent-tools'>{toolsOf(agent)}</span>
      </p>
    </section>
  );
}

function AgentChoice(
  { card: { id, name, role, description }, isChosen, onChoose }: {
    card: AgentCard;
    isChosen: boolean;
    onChoose: () => void;
  },
): JSX.Element {
  const element = useRef<HTMLLabelElement>(null);
  useEffect(() => {
    if (isChosen) element.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  return (
    <label
      ref={element}
      class='agent-card'
      data-testid='agent-card'
      data-agent={id}
      data-chosen={isChosen}
      title={role === undefined ? description : `${role}: ${description}`}
    >
      {/* A click also counts on the agent that is chosen already, which does not change. */}
      <input type='radio' name='agent' value={id} checked={isChosen} onChange={onChoose} onClick={onChoose} />
      <span class='agent-name'>{name}</span>
    </label>
  );
}

function toolsOf({ tools }: AgentCard): string {
  if (tools.length === 0) return 'No tools.';
  const named = tools.slice(0, maxTools).map(({ title }) => title);
  const rest = tools.length - named.length;
  const listed = rest > 0 ? [...named, `${rest} more`] : named;
  return `${formatCount(tools.length, 'tool')}: ${listed.join(', ')}.`;
}
