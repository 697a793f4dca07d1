import { type JSX, render } from 'preact';
import { useId } from 'preact/hooks';
import type { ToolQuestion } from '../../../adapters/webmcp/page.ts';
import type { Playground } from '../../app/state/playground.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { oncePer } from '../../kit/hooks/once-per.ts';
import { createOfferedAgent, type OfferedAgent } from '../state/offered-agent.ts';

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

/** Asks in a dialog over whatever the page shows. Closing the dialog denies; the dialog closes when the signal aborts. */
export async function confirmCall(question: ToolQuestion): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const root = document.body.appendChild(document.createElement('div'));
  const deny = (): void => resolve(false);
  question.signal.addEventListener('abort', deny, { once: true });
  if (question.signal.aborted) deny();
  render(<CallQuestion question={question} onDecide={resolve} />, root);
  try {
    return await promise;
  } finally {
    question.signal.removeEventListener('abort', deny);
    render(null, root);
    root.remove();
  }
}

function CallQuestion({ question: { name, text }, onDecide }: {
  readonly question: ToolQuestion;
  readonly onDecide: (isApproved: boolean) => void;
}): JSX.Element {
  return (
    <Dialog class='keys' label='Approve a call' testId='webmcp-question' onClose={() => onDecide(false)}>
      <h2>Your browser’s agent wants to call {name}</h2>
      <p class='webmcp-call' data-testid='webmcp-text'>{text}</p>
      <div class='dialog-foot'>
        <button type='button' class='button' data-testid='webmcp-deny' onClick={() => onDecide(false)}>Deny</button>
        <button type='button' class='button is-primary' data-testid='webmcp-approve' onClick={() => onDecide(true)}>
          Approve
        </button>
      </div>
    </Dialog>
  );
}
