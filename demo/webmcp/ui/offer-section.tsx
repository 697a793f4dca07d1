import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import type { Playground } from '../../app/state/playground.ts';
import { oncePer } from '../../kit/hooks/once-per.ts';
import { createOfferedAgent, type OfferedAgent } from '../state/offered-agent.ts';
import { confirmCall } from './confirm-call.tsx';

/** Offers the tools of one agent to the browser's own agent. */
export function OfferSection({ playground }: { playground: Playground }): JSX.Element {
  const id = useId();
  const { agentId, problem, offer } = offeredOf(playground);
  return (
    <section class='privacy-section' aria-labelledby='privacy-webmcp'>
      <h2 id='privacy-webmcp'>Browser agent</h2>
      <p class='privacy-lead'>
        Let your browser’s built-in agent call the tools of one of your agents, with its secrets and limits, until you
        reload this page. Calls that need approval ask you first.
      </p>
      <div class='field'>
        <label for={id}>Share the tools of</label>
        <select
          id={id}
          data-testid='webmcp-agent'
          value={agentId.value ?? ''}
          onChange={({ currentTarget }) => void offer(currentTarget.value || undefined)}
        >
          <option value=''>No agent</option>
          {playground.agents.map((agent) => <option key={agent.id} value={agent.id}>{agent.name}</option>)}
        </select>
      </div>
      {problem.value !== undefined && <p class='field-error' role='alert'>{problem.value}</p>}
    </section>
  );
}

const offeredOf = oncePer((playground: Playground): OfferedAgent =>
  createOfferedAgent({ playground, confirm: confirmCall })
);
