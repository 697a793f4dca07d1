import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { AgentCard } from '../../control/page-control.ts';
import type { Playground } from '../../app/state/playground.ts';
import { showNewAgent } from '../../app/state/screens.ts';
import { formatCount } from '../../kit/format.ts';
import { Icon } from '../../kit/icon.tsx';

/** How many tools are named. */
const maxTools = 5;

interface AgentPickerProps {
  readonly agent: AgentCard;
  readonly playground: Playground;
  readonly onChoose: (card: AgentCard) => void;
}

/** The agents in a row, and what the chosen one does. */
export function AgentPicker({ agent, playground, onChoose }: AgentPickerProps): JSX.Element {
  const { agents } = playground;
  return (
    <section class='agent-picker' aria-labelledby='agent-picker'>
      <div class='agent-head'>
        <h2 id='agent-picker'>Agent</h2>
        <button
          type='button'
          class='quiet-button'
          data-testid='new-agent'
          onClick={() => showNewAgent(playground)}
        >
          <Icon name='plus' />
          New agent
        </button>
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
