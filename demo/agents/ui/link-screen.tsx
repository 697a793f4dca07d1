import { type ReadonlySignal, signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { ImportReport } from '../../../src/registry/index.ts';
import { OverScreen } from '../../app/frame/over-screen.tsx';
import type { Playground } from '../../app/state/playground.ts';
import { uncover } from '../../app/state/screens.ts';
import type { RegistryControl } from '../../control/registry-control.ts';
import type { AgentReview } from '../../control/trial-control.ts';
import { problemOf } from '../../kit/answer-problem.ts';
import { Differences } from '../../kit/differences.tsx';
import { Facts } from '../../kit/facts.tsx';
import { formatCount } from '../../kit/format.ts';
import { fromLink } from '../state/agent-file.ts';
import { Button } from '../../kit/button.tsx';

/** An agent that came by a link: what it is, which hosts and secrets it names, and the question whether it may come in. */
export function LinkScreen({ playground, hash }: { playground: Playground; hash: string }): JSX.Element {
  const link = useMemo(() => createAgentLink(playground.registry.connect()), []);
  useEffect(() => void link.look(hash), [hash]);
  const close = (): void => uncover(playground);
  const arrival = link.arrival.value;
  return (
    <OverScreen
      playground={playground}
      name='link'
      label='Agent from a link'
      title='Import an agent'
      onBack={close}
      problem={link.problem.value}
    >
      <div class='registry registry-page' data-testid='link-page' data-ready={arrival !== undefined}>
        {arrival && <Contents arrival={arrival} />}
        {arrival && (
          <Question
            link={link}
            arrival={arrival}
            onLeave={close}
            onTaken={(agentId) => void openChat(agentId, playground)}
          />
        )}
        {!arrival && link.isBusy.value && <p role='status'>Loading the link…</p>}
        {!arrival && !link.isBusy.value && (
          <div class='button-row'>
            <Button testId='link-leave' onClick={close}>Back to the chat</Button>
          </div>
        )}
      </div>
    </OverScreen>
  );
}

function Contents({ arrival: { review, known } }: { arrival: Arrival }): JSX.Element {
  const { agents, tools, hosts, secrets, tamed } = review;
  return (
    <>
      <p class='registry-faint'>
        The author of this link wrote this agent. Nothing is imported or run until you confirm.
      </p>
      {agents.map(({ id, name, description, instructions, entryTools }) => (
        <section key={id} data-testid='link-agent'>
          <h2>{name}</h2>
          <Facts
            facts={[
              ['Id', id],
              ['Description', description],
              ['Tools', entryTools.join(', ')],
            ]}
          />
          <details class='registry-reason' open>
            <summary>Instructions</summary>
            <pre class='registry-text' tabIndex={0} aria-label='Instructions'>{instructions || 'None'}</pre>
          </details>
        </section>
      ))}
      <section>
        <h2>Sends data to</h2>
        {hosts.length === 0 ? <p class='registry-faint'>No other hosts.</p> : (
          <ul class='boxed registry-rows'>
            {hosts.map(({ origin, by, secrets: sent }) => (
              <li key={origin} data-testid='link-host'>
                <span class='registry-row-name'>{origin}</span>
                <span class='registry-faint'>{by.join(', ')}</span>
                {sent.length > 0 && (
                  <p class='link-warning'>
                    Receives the {sent.length === 1 ? 'secret' : 'secrets'} {sent.join(', ')}.
                  </p>
                )}
              </li>
            ))}
          </ul>
        )}
      </section>
      {secrets.length > 0 && (
        <p class={known.length > 0 ? 'link-warning' : 'registry-faint'} data-testid='link-secrets'>
          Secrets that the agent uses: {secrets.join(', ')}. {known.length > 0
            ? `Your vault contains ${
              known.join(', ')
            }. If you import the agent, its tools can send them to the hosts above.`
            : 'Your vault does not contain them.'}
        </p>
      )}
      {tools.length > 0 && <Tools tools={tools} />}
      {tamed.length > 0 && (
        <section>
          <h2>Restricted for safety</h2>
          <ul class='link-tamed'>{tamed.map((text) => <li key={text}>{text}.</li>)}</ul>
        </section>
      )}
    </>
  );
}

function Tools({ tools }: { tools: Arrival['review']['tools'] }): JSX.Element {
  return (
    <section>
      <h2>Tools included</h2>
      {tools.map(({ id, type, description, config }) => (
        <details key={id} class='registry-reason'>
          <summary>
            {id} <code>{type}</code> {description}
          </summary>
          <pre class='registry-text' tabIndex={0} aria-label={`What ${id} does`}>
            {type === 'code' && typeof config?.['code'] === 'string' ? config['code'] : JSON.stringify(config, null, 2)}
          </pre>
        </details>
      ))}
    </section>
  );
}

interface QuestionProps {
  readonly link: AgentLink;
  readonly arrival: Arrival;
  readonly onLeave: () => void;
  readonly onTaken: (agentId: string) => void;
}

/** Replacements need their own confirmation. */
function Question({ link, arrival: { report }, onLeave, onTaken }: QuestionProps): JSX.Element {
  const mayReplace = useSignal(false);
  const replaced = report.changes.filter(({ change }) => change === 'update');
  const accept = async (): Promise<void> => {
    const agentId = await link.accept();
    if (agentId !== undefined) onTaken(agentId);
  };
  return (
    <>
      {replaced.length > 0 && (
        <section data-testid='link-replaced'>
          <h2>Records that will be replaced</h2>
          <ul class='boxed registry-rows'>
            {replaced.map(({ kind, id, differences }) => (
              <li key={`${kind} ${id}`}>
                <span class='registry-row-name'>
                  {id} <code>{kind}</code>
                </span>
                <Differences differences={differences} />
              </li>
            ))}
          </ul>
          <label class='check'>
            <input
              type='checkbox'
              data-testid='link-replace'
              checked={mayReplace.value}
              onChange={() => (mayReplace.value = !mayReplace.value)}
            />
            Replace my records
          </label>
        </section>
      )}
      <div class='dialog-foot registry-foot'>
        <Button testId='link-leave' onClick={onLeave}>Cancel</Button>
        <Button
          kind='primary'
          testId='link-accept'
          disabled={link.isBusy.value || (replaced.length > 0 && !mayReplace.value)}
          onClick={() => void accept()}
        >
          {report.changes.length === 0 ? 'Open agent' : `Import ${formatCount(report.changes.length, 'record')}`}
        </Button>
      </div>
    </>
  );
}

async function openChat(agentId: string, playground: Playground): Promise<void> {
  await playground.refreshAgents();
  uncover(playground);
  playground.chats.start(agentId);
  playground.focusRequests.value++;
}

/** An agent that comes by a link: shown first, and imported when the person confirms. Nothing of it runs before. */
export interface Arrival {
  readonly review: AgentReview;
  /** What it would change. */
  readonly report: ImportReport;
  /** The names of secrets that are in this browser's vault: the agent would get them. */
  readonly known: readonly string[];
}

export interface AgentLink {
  readonly arrival: ReadonlySignal<Arrival | undefined>;
  readonly problem: ReadonlySignal<string | undefined>;
  readonly isBusy: ReadonlySignal<boolean>;
  /** Reads a link; changes nothing. */
  look(hash: string): Promise<void>;
  /** Imports it and returns the agent's id; `undefined`: it was refused. */
  accept(): Promise<string | undefined>;
}

export function createAgentLink(control: RegistryControl): AgentLink {
  const arrival = signal<Arrival | undefined>(undefined);
  const problem = signal<string | undefined>(undefined);
  const isBusy = signal(false);

  async function read(hash: string): Promise<Arrival> {
    const review = await control.reviewDocument(await fromLink(hash));
    if (!review.ok) throw new Error(textOf(review.error.message));
    const [report, vault] = await Promise.all([control.importAll(review.value.document, true), control.vault()]);
    if (!report.ok) throw new Error(textOf(report.error.message));
    const ids = new Set(vault.ok ? vault.value.secrets.map(({ id }) => id) : []);
    return { review: review.value, report: report.value, known: review.value.secrets.filter((name) => ids.has(name)) };
  }

  return {
    arrival,
    problem,
    isBusy,
    async look(hash) {
      isBusy.value = true;
      problem.value = undefined;
      arrival.value = undefined;
      try {
        arrival.value = await read(hash);
      } catch (error) {
        problem.value = `This link cannot be opened: ${error instanceof Error ? error.message : 'unknown reason'}.`;
      }
      isBusy.value = false;
    },
    async accept() {
      const { value } = arrival;
      if (!value || isBusy.value) return undefined;
      isBusy.value = true;
      const answer = await control.importAll(value.review.document, false).catch(() => undefined);
      isBusy.value = false;
      problem.value = problemOf(answer, 'The registry did not respond');
      return answer?.ok ? value.review.agents[0]?.id : undefined;
    },
  };
}

/** Used in the middle of a sentence. */
function textOf(message: string): string {
  return message.replace(/^Cannot take in the document: /, '');
}
