/** The agent whose tools are offered to the browser. */

import { effect, type ReadonlySignal, signal } from '@preact/signals';
import { type JSX, render } from 'preact';
import { offerAgentTools, type OfferOptions, type ToolQuestion } from '../../../adapters/webmcp/page.ts';
import type { Playground } from '../../app/state/playground.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { oncePer } from '../../kit/hooks/once-per.ts';
import { Choice } from '../../kit/choice.tsx';
import { Button } from '../../kit/button.tsx';

/** Offers the tools of one agent to the browser's own agent. */
export function OfferSection({ playground }: { playground: Playground }): JSX.Element {
  const { agentId, problem, offer } = offeredOf(playground);
  return (
    <section class='privacy-section' aria-labelledby='privacy-webmcp'>
      <h2 id='privacy-webmcp'>Browser agent</h2>
      <p class='privacy-lead'>
        Let your browser’s built-in agent call the tools of one of your agents, with its secrets and limits, until you
        reload this page. Calls that need approval ask you first.
      </p>
      <Choice
        label='Share the tools of'
        testId='webmcp-agent'
        value={agentId.value ?? ''}
        options={[['', 'No agent'], ...playground.agents.map(({ id, name }) => [id, name] as const)]}
        onChoose={(chosen) => void offer(chosen || undefined)}
      />
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
        <Button testId='webmcp-deny' onClick={() => onDecide(false)}>Deny</Button>
        <Button kind='primary' testId='webmcp-approve' onClick={() => onDecide(true)}>
          Approve
        </Button>
      </div>
    </Dialog>
  );
}

/** What the browser's own agent may call. */
export interface OfferedAgent {
  /** `undefined`: nothing is offered. */
  readonly agentId: ReadonlySignal<string | undefined>;
  readonly problem: ReadonlySignal<string | undefined>;
  /** Offers the tools of this agent instead of the current one; `undefined` withdraws them. */
  readonly offer: (agentId: string | undefined) => Promise<void>;
}

interface OfferedAgentOptions {
  readonly playground: Pick<Playground, 'agents' | 'webmcp'>;
  readonly confirm: NonNullable<OfferOptions['confirm']>;
}

/** Offers nothing at first. After a change of the agents it offers the tools anew. */
export function createOfferedAgent({ playground, confirm }: OfferedAgentOptions): OfferedAgent {
  const current = signal<string | undefined>(undefined);
  const problem = signal<string | undefined>(undefined);
  let withdraw: (() => void) | undefined;
  let turn: Promise<void> = Promise.resolve();

  async function register(): Promise<void> {
    withdraw?.();
    withdraw = undefined;
    const { value: agentId } = current;
    if (agentId === undefined) return;
    const { port1, port2 } = new MessageChannel();
    try {
      await playground.webmcp.offerAgent(agentId, port2);
      withdraw = await offerAgentTools(port1, { confirm });
    } catch {
      port1.close();
      current.value = undefined;
      problem.value = 'The tools were withdrawn: the agent is disabled, or the browser refused them. Check the agent.';
    }
  }

  /** One after the other: a name can be registered once. */
  const again = (): Promise<void> => (turn = turn.then(register));
  let agents = playground.agents;
  effect(() => {
    if (playground.agents === agents) return;
    agents = playground.agents;
    void again();
  });

  return {
    agentId: current,
    problem,
    async offer(agentId) {
      problem.value = undefined;
      current.value = agentId;
      await again();
    },
  };
}
