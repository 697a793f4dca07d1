import type { PlanPart } from '../../plan/state/plan-data.ts';
import type { Signal } from '@preact/signals';
import type { JSX } from 'preact';
import { readOf } from '../state/chat.ts';
import { useEffect, useRef } from 'preact/hooks';
import type { AgentCard } from '../../control/page-control.ts';
import { isAsking, openApprovals, openNeed, waitingCalls } from '../state/approval.ts';
import { planOf } from '../state/plan.ts';
import { openQuestions } from '../../plan/state/plan-data.ts';
import { placeOf } from '../../knowledge/worker/place.ts';
import { citable, shownNumbers } from '../state/citations.ts';
import { type CitedSource } from '../state/run-data.ts';
import { hasFiles } from '../../files/state/attached-file.ts';
import { Files } from '../../files/ui/lazy-files.tsx';
import { safeHref } from '../../markdown/state/markdown-links.ts';
import {
  answerText,
  type AssistantMessage,
  type Outcome,
  type Part,
  type SourcePart,
  type TextPart,
  type ToolPart,
} from '../state/message.ts';
import { agentOf, type Playground } from '../../app/state/playground.ts';
import { showPlace } from '../../app/state/screens.ts';
import type { Remedy } from '../state/problem.ts';
import type { ErrorShape } from '../state/run-data.ts';
import { AnswerFooter, InspectButton } from './answer-footer.tsx';
import { lazy } from '../../kit/lazy.tsx';
import { Citations, type CitationScope } from '../../markdown/ui/citation.tsx';
import { Compaction } from './compaction.tsx';
import { Markdown } from '../../markdown/ui/lazy-markdown.tsx';
import { Mark, Swell } from '../../kit/mark.tsx';
import { ConnectModel } from '../../settings/ui/connect-model.tsx';
import { LeftReading } from './left-reading.tsx';
import { Reasoning } from './reasoning.tsx';
import { ToolCard } from './tool-card.tsx';
import { Button } from '../../kit/button.tsx';

/** The card of a program; until its code has been fetched, that of any call. */
const ProgramCard = lazy(async () => (await import('./program-card.tsx')).ProgramCard, { StandIn: ToolCard });

/** What an MCP server needs of the person, fetched with the first such call. */
const NeedCard = lazy(async () => (await import('../../mcp/ui/need-card.tsx')).NeedCard);

/** The app of a call, fetched with the first such call. */
const AppCard = lazy(async () => (await import('../../mcp/ui/app-card.tsx')).AppCard);

/** A message's index among all, also those that are not drawn. Keys move the focus here. */
export interface InFeed {
  readonly tabIndex?: -1;
  readonly 'aria-posinset': number;
  readonly 'aria-setsize': number;
}

interface AnswerProps {
  readonly message: AssistantMessage;
  readonly playground: Playground;
  readonly isLast: boolean;
}

const CitedSources = lazy(async () => (await import('./cited-sources.tsx')).CitedSources);
const HasRead = lazy(async () => (await import('./trust.tsx')).HasRead);
const RetryLine = lazy(async () => (await import('./retry-line.tsx')).RetryLine);
const ErrorCallout = lazy(async () => (await import('./callout.tsx')).ErrorCallout);

/** What an agent answers: its parts in order, then how it ended. */
export function Answer(
  { message, playground, isLast, inFeed }: AnswerProps & { readonly inFeed: InFeed },
): JSX.Element {
  const outcome = message.outcome.value;
  const parts = message.parts.value;
  const agent = agentOf(playground.agents, playground.chats.current.value.agentId.value);
  const { scope, canOpen } = citationsFor(message, playground);
  const read = isLast && outcome.type !== 'running' ? readOf(playground.chats.current.value) : [];
  useAnnouncement(message, playground);
  return (
    <article
      class='message'
      aria-label={agent.name}
      data-testid='message'
      data-role='assistant'
      data-id={message.id}
      data-outcome={outcome.type}
      {...inFeed}
    >
      <header class='message-head'>
        <Mark />
        <h2>{agent.name}</h2>
      </header>
      <Citations.Provider value={scope}>
        {parts.map((part, i) => (
          <PartView key={i} part={part} agent={agent} message={message} playground={playground} isLast={isLast} />
        ))}
      </Citations.Provider>
      {outcome.type === 'running' && <LeftReading playground={playground} />}
      {outcome.type === 'running' && <Waiting message={message} playground={playground} />}
      {outcome.type === 'running' && (
        <div class='answer-actions'>
          <InspectButton message={message} playground={playground} />
        </div>
      )}
      <Sources parts={parts} />
      {scope.sources.size > 0 && <CitedSources message={message} scope={scope} canOpen={canOpen} />}
      <Ending message={message} outcome={outcome} playground={playground} isLast={isLast} />
      {read.length > 0 && <HasRead read={read} />}
      {outcome.type !== 'running' && <AnswerFooter message={message} playground={playground} isLast={isLast} />}
      {outcome.type !== 'running' && isLast && <ConnectModel message={message} playground={playground} />}
    </article>
  );
}

/** What the answer may cite. Sources of this page's worker open in the knowledge panel; those of an endpoint are listed below. */
function citationsFor(
  message: AssistantMessage,
  playground: Playground,
): { readonly scope: CitationScope; readonly canOpen: (source: CitedSource) => boolean } {
  const placeFor = (source: CitedSource) => message.via === undefined ? placeOf(source) : undefined;
  const onOpen = (source: CitedSource): void => {
    const place = placeFor(source);
    if (place) showPlace(playground, place);
    else {document.querySelector<HTMLElement>(
        `[data-id="${CSS.escape(message.id)}"] .cited-source[data-n="${source.n}"]`,
      )?.focus();}
  };
  const sources = citable(playground.chats.current.value.messages.value, message);
  const shownAs = (n: number): number => shownNumbers(message).get(n) ?? n;
  return { scope: { sources, shownAs, onOpen }, canOpen: (source) => placeFor(source) !== undefined };
}

interface PartViewProps extends AnswerProps {
  readonly part: Part;
  readonly agent: AgentCard;
}

function PartView({ part, agent, message, playground, isLast }: PartViewProps): JSX.Element | null {
  switch (part.type) {
    case 'text':
      return <TextView part={part} />;
    case 'reasoning':
      return <Reasoning part={part} />;
    case 'tool':
      if (part.call.value.name === 'code_run') {
        return (
          <ProgramCard
            part={part}
            titleOf={(name) => titleOf(name, agent)}
          />
        );
      }
      return (
        <ToolCard
          part={part}
          title={titleOf(part.call.value.name, agent)}
          need={needOf(part, message, playground)}
          app={appOf(part, message, playground)}
          onDecide={(decision) => playground.decide(part, decision)}
        />
      );
    case 'plan':
      return <PlanCard part={part} message={message} playground={playground} isLast={isLast} />;
    case 'file':
      return /^https?:/.test(part.url)
        ? <p class='chip'>File ({part.mediaType})</p>
        : <Files files={[{ ...part, name: 'File from the model', via: message.via }]} playground={playground} />;
    case 'steering':
      return (
        <div class='steering' data-testid='steering'>
          <p>{part.text}</p>
          <span>Sent while the agent worked</span>
        </div>
      );
    case 'compaction':
      return part.summary === undefined ? null : <Compaction part={part} />;
    case 'source':
    case 'context':
    case 'citations':
    case 'step':
      return null;
    default:
      return part satisfies never;
  }
}

function needOf(part: ToolPart, { via }: AssistantMessage, playground: Playground): JSX.Element | undefined {
  const need = openNeed(part.call.value);
  return need && <NeedCard part={part} need={need} via={via} playground={playground} />;
}

function appOf(part: ToolPart, { via }: AssistantMessage, playground: Playground): JSX.Element | undefined {
  const { app, state } = part.call.value;
  if (!app || state !== 'result') return undefined;
  return <AppCard part={part} app={app} isNew={app.isNew === true} via={via} playground={playground} />;
}

/** The tool's title, as the agent's card has it. */
function titleOf(name: string, { tools }: AgentCard): string | undefined {
  return tools.find((tool) => tool.name === name)?.title;
}

function TextView({ part }: { part: TextPart }): JSX.Element {
  return <Markdown text={part.text} isLive={!part.done.value} />;
}

/** Something moves as long as nothing else does. */
function Waiting({ message, playground }: Omit<AnswerProps, 'isLast'>): JSX.Element | null {
  const retry = message.retry.value;
  if (retry) {
    return (
      <RetryLine key={`${retry.modelId} ${retry.attempt}`} retry={retry} message={message} playground={playground} />
    );
  }
  const last = message.parts.value.findLast(({ type }) => type !== 'step');
  const isBusy = last?.type === 'text' || last?.type === 'reasoning'
    ? !last.done.value
    : last?.type === 'plan' || (last?.type === 'tool' && last.call.value.endedAt === undefined);
  if (isBusy) return null;
  return (
    <p class='waiting'>
      <Swell />
      <span class='visually-hidden'>The agent is working</span>
    </p>
  );
}

function Sources({ parts }: { parts: readonly Part[] }): JSX.Element | null {
  const sources = parts.flatMap((part) => part.type === 'source' ? [part] : []);
  if (sources.length === 0) return null;
  return (
    <aside class='sources'>
      <h3>Sources</h3>
      <ol>
        {sources.map((source, i) => (
          <li key={i}>
            <Source source={source} />
          </li>
        ))}
      </ol>
    </aside>
  );
}

function Source({ source: { title, url } }: { source: SourcePart }): JSX.Element {
  const href = safeHref(url ?? '');
  return href === undefined ? <>{title}</> : <a href={href} target='_blank' rel='noopener noreferrer'>{title}</a>;
}

const stoppedBy = {
  person: 'You stopped this answer.',
  page: 'The answer was interrupted when the page closed.',
  runtime: 'The run was stopped.',
};

const cutBy: Readonly<Record<string, string>> = {
  length: 'The answer reached the model’s length limit.',
  'content-filter': 'The model server’s content filter ended the answer.',
};

/** How the answer ended, where that is not plain to see. */
function Ending({ message, outcome, playground, isLast }: AnswerProps & { outcome: Outcome }): JSX.Element | null {
  switch (outcome.type) {
    case 'running':
      return null;
    case 'stopped':
      return <p class='ending' data-testid='stopped'>{stoppedBy[outcome.by]}</p>;
    case 'waiting':
      return isAsking(message)
        ? (
          <div class='ending' data-testid='awaiting'>
            <p>The agent continues after you {waitsFor(message)}.</p>
            <DecideAll message={message} playground={playground} />
          </div>
        )
        : null;
    case 'done': {
      const said = cutBy[outcome.finishReason ?? ''] ??
        (answerText(message) === '' ? 'The agent returned no text.' : '');
      return said === '' ? null : <p class='ending'>{said}</p>;
    }
    case 'limited':
    case 'failed':
    case 'interrupted':
      return (
        <ErrorCallout
          error={outcome.error}
          isLimit={outcome.type !== 'failed'}
          traceId={message.facts.value.run?.traceId}
          saidOf={message.via === undefined && isProviders(outcome.error)
            ? (traceId) => playground.runs.connect().said(traceId)
            : undefined}
          isLast={isLast}
          hasFiles={playground.chats.current.value.messages.value.some(hasFiles)}
          onRemedy={(remedy) => apply(remedy, playground)}
        />
      );
    default:
      return outcome satisfies never;
  }
}

/** Decides on all calls that wait, where there are several. */
function DecideAll(
  { message, playground }: Pick<AnswerProps, 'message' | 'playground'>,
): JSX.Element | null {
  const open = openApprovals(message);
  if (open.length < 2) return null;
  const decide = (approved: boolean): void => open.forEach((part) => playground.decide(part, { approved }));
  return (
    <p class='button-row'>
      <Button kind='primary' onClick={() => decide(true)}>Approve all {open.length}</Button>
      <Button onClick={() => decide(false)}>Deny all</Button>
    </p>
  );
}

/** Whether a model's provider reported the error. */
function isProviders({ details }: ErrorShape): boolean {
  const reason = details?.['reason'];
  return typeof reason === 'string' && reason.startsWith('provider_');
}

/** What a person has to do: decide on calls, or answer questions. */
function waitsFor(message: AssistantMessage): 'decide' | 'answer' {
  const plan = planOf(message);
  const decides = plan
    ? openQuestions(plan).every(({ kind }) => kind === 'approval')
    : waitingCalls(message).every(({ call }) => call.value.need === undefined);
  return decides ? 'decide' : 'answer';
}

function apply(remedy: Remedy, playground: Playground): void {
  switch (remedy) {
    case 'remove-files':
      return playground.chats.removeFiles();
    case 'retry':
      return playground.retry();
    case 'settings':
      return void (playground.overlay.value = 'settings');
    case 'chat-settings':
      return void (playground.overlay.value = 'chat-settings');
    case 'new-chat':
      return playground.chats.start();
    case 'reload':
      return location.reload();
    case 'room':
      return void (playground.screen.value = { name: 'settings' });
    default:
      return remedy satisfies never;
  }
}

const endings: { readonly [T in Outcome['type']]?: string } = {
  stopped: 'The answer was stopped',
  waiting: 'The agent asks whether a tool call is allowed',
};

function endingOf(message: AssistantMessage): string | undefined {
  const { type } = message.outcome.value;
  return type === 'waiting' && planOf(message) ? 'The plan waits for you' : endings[type];
}

/** How much of an answer is read out, in UTF-16 code units. */
const announced = 1000;

/** Has the words of an answer read out, without the signs of Markdown. */
async function announce(text: string, announcement: Signal<string>): Promise<void> {
  const { plainText } = await import('../../markdown/ui/markdown.tsx'); // it is there by now
  announcement.value = plainText(text).slice(0, announced);
}

/** Reads the answer out once it has ended, not while it grows. */
function useAnnouncement(message: AssistantMessage, { announcement }: Playground): void {
  const { type } = message.outcome.value;
  const wasRunning = useRef(false);
  useEffect(() => {
    if (type === 'running') wasRunning.current = true;
    else if (wasRunning.current) {
      wasRunning.current = false;
      const ending = endingOf(message);
      if (ending !== undefined) announcement.value = ending;
      else void announce(answerText(message), announcement);
    }
  }, [type]);
}

/** An answer's plan; until its code has been fetched, its goal. */
export const PlanCard = lazy(async () => (await import('../../plan/ui/plan-card.tsx')).PlanCard, { StandIn: Goal });

export function Goal({ part }: { part: PlanPart }): JSX.Element {
  return <p class='plain-text'>{part.view.value.goal}</p>;
}
