import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { AgentCard } from '../../app/worker/control.ts';
import type { Chat } from '../../chat/state/chat.ts';
import { hostOf } from '../../endpoint/state/endpoint.ts';
import { agentOf, type Playground, showBeside } from '../../app/state/playground.ts';
import { endpointOf } from '../../settings/state/settings.ts';
import { readTour, stopCount } from '../../tour/state/tour-notes.ts';
import { Icon } from '../../kit/icon.tsx';
import { Mark, Soundings } from '../../kit/mark.tsx';
import { isBeside } from '../../app/ui/panel-cover.ts';

/** How many tools a card names. */
const maxTools = 4;

/** An empty chat: the agents to choose from, and suggested messages. */
export function Welcome({ chat, playground }: { chat: Chat; playground: Playground }): JSX.Element {
  const { agents } = playground;
  const agent = agentOf(agents, chat.agentId.value);
  const choose = ({ id, panel }: AgentCard): void => {
    chat.agentId.value = id;
    if (panel && isBeside()) showBeside(playground, panel);
  };
  return (
    <div class='welcome' data-testid='welcome'>
      <Soundings />
      <header class='welcome-head'>
        <Mark />
        <h1>What should an agent do for you?</h1>
        <p>{whereabouts(endpointOf(playground.settings.choice.value))} Choose one and tell it what to do.</p>
        <div class='welcome-own'>
          {!playground.tour.isShown.value && <TourButton playground={playground} />}
          <button
            type='button'
            class='button'
            data-testid='new-agent'
            onClick={() => (playground.workshop.value = { type: 'builder' })}
          >
            <Icon name='plus' />
            New agent
          </button>
          <button
            type='button'
            class='button'
            data-testid='compare'
            onClick={() => (playground.workshop.value = { type: 'compare' })}
          >
            <Icon name='columns' />
            Compare two
          </button>
        </div>
      </header>
      <fieldset class='agents'>
        <legend class='visually-hidden'>Agent</legend>
        {agents.map((card) => (
          <AgentChoice
            key={card.id}
            card={card}
            isChosen={card.id === agent.id}
            onChoose={() => choose(card)}
          />
        ))}
      </fieldset>
      <Suggestions agent={agent} onChoose={(text) => playground.send(text)} />
    </div>
  );
}

/** The way to the tour, or back to where it was left. */
function TourButton({ playground: { tour } }: { playground: Playground }): JSX.Element {
  const at = readTour(tour.notes)?.at ?? 0;
  const isUnderWay = at > 0 && at < stopCount;
  return (
    <button type='button' class='button' data-testid='open-tour' onClick={() => (tour.isShown.value = true)}>
      <Icon name='play' />
      {isUnderWay ? `Continue the tour, stop ${at + 1} of ${stopCount}` : 'Take the two-minute tour'}
    </button>
  );
}

function whereabouts(endpoint: string | undefined): string {
  return endpoint === undefined
    ? 'AI agents that run entirely in your browser.'
    : `Agents that run at ${hostOf(endpoint)}. This page signs every request.`;
}

function AgentChoice(
  { card, isChosen, onChoose }: { card: AgentCard; isChosen: boolean; onChoose: () => void },
): JSX.Element {
  const { name, description, tools } = card;
  const element = useRef<HTMLLabelElement>(null);
  useEffect(() => {
    if (isChosen) element.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  return (
    <label ref={element} class='agent-card' data-testid='agent-card' data-agent={card.id} data-chosen={isChosen}>
      <input type='radio' name='agent' value={card.id} checked={isChosen} onChange={onChoose} />
      <span class='agent-name'>
        {name}
        <Icon name='check' />
      </span>
      <span class='agent-description'>{description}</span>
      <span class='chips'>
        {tools.slice(0, maxTools).map((tool) => (
          <span key={tool.name} class='chip' title={tool.description}>{tool.title}</span>
        ))}
        {tools.length > maxTools && (
          <span
            class='chip'
            title={tools.slice(maxTools).map(({ title }) => title).join(', ')}
          >
            +{tools.length - maxTools}
          </span>
        )}
        {tools.length === 0 && <span class='chip'>No tools</span>}
      </span>
    </label>
  );
}

function Suggestions(
  { agent, onChoose }: { agent: AgentCard; onChoose: (text: string) => void },
): JSX.Element | null {
  if (agent.suggestions.length === 0) return null;
  return (
    <section class='suggestions' aria-label={`Try with ${agent.name}`}>
      <h2>Try with {agent.name}</h2>
      <ul>
        {agent.suggestions.map((text) => (
          <li key={text}>
            <button type='button' data-testid='suggestion' onClick={() => onChoose(text)}>
              <span>{text}</span>
              <Icon name='arrow' />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
