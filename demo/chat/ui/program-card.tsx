import { useComputed, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { formatCount, formatDuration } from '../../kit/format.ts';
import { Icon, type IconName } from '../../kit/icon.tsx';
import { JsonView } from '../../kit/json-view.tsx';
import { Markdown } from '../../markdown/ui/lazy-markdown.tsx';
import type { ToolCall, ToolPart } from '../state/message.ts';
import {
  codeOf,
  notListed,
  type Program,
  type ProgramCall,
  programOf,
  quotedOf,
  resultOf,
  summaryOf,
  wordsOfCall,
} from '../state/program.ts';
import '../styles/program.css';
import { ToolCard } from './tool-card.tsx';
import { Button } from '../../kit/button.tsx';

interface ProgramCardProps {
  readonly part: ToolPart;
  /** The titles of the agent's tools, by name. */
  readonly titleOf?: (tool: string) => string | undefined;
}

const looks: Readonly<Record<Program['state'], { readonly word: string; readonly icon?: IconName }>> = {
  running: { word: 'Running' },
  suspended: { word: 'Waiting for you', icon: 'wait' },
  completed: { word: 'Done', icon: 'check' },
  failed: { word: 'Failed', icon: 'cross' },
};

/** A program that the model wrote: the calls that it makes, and its code and result on demand. */
export function ProgramCard({ part, titleOf = () => undefined }: ProgramCardProps): JSX.Element {
  const call = part.call.value;
  const program = programOf(call);
  if (!program) return <ToolCard part={part} title='Program' />;
  const { word, icon } = looks[program.state];
  const code = codeOf(call);
  const result = resultOf(call);
  return (
    <section
      role='group'
      class='tool-card program-card'
      data-testid='program'
      data-state={program.state}
      aria-label={`Program: ${word}`}
    >
      <header class='program-head'>
        <span class='tool-state'>{icon ? <Icon name={icon} /> : <span class='spinner' />}</span>
        <span class='tool-name'>Program</span>
        <span class='program-summary' data-testid='program-summary'>{summaryOf(program)}</span>
        <span class='tool-time'>
          {word}
          <Time call={call} program={program} />
        </span>
      </header>
      <Acts program={program} titleOf={titleOf} />
      <Calls program={program} titleOf={titleOf} />
      <Quote call={call} />
      <Failure call={call} program={program} />
      {program.state === 'suspended' && (
        <p class='program-note'>The program continues after you decide. Calls it has already made are not repeated.</p>
      )}
      {code !== undefined && (
        <Folded label='Code' testId='program-code'>
          {() => <Code part={part} />}
        </Folded>
      )}
      {result && (
        <Folded label='Result' testId='program-result'>
          {() => <Result value={result.value} />}
        </Folded>
      )}
    </section>
  );
}

function Time({ call: { startedAt, endedAt }, program }: { call: ToolCall; program: Program }): JSX.Element | null {
  if (endedAt === undefined || program.state === 'suspended') return null;
  return <time>{formatDuration(endedAt - startedAt)}</time>;
}

const marks: Readonly<Record<ProgramCall['state'], IconName>> = {
  running: 'wait',
  done: 'check',
  failed: 'cross',
  denied: 'hand',
  waiting: 'wait',
  replayed: 'check',
};

function Calls({ program, titleOf }: Required<Pick<ProgramCardProps, 'titleOf'>> & { program: Program }): JSX.Element {
  const more = notListed(program);
  return (
    <ol class='program-calls' aria-label='Program calls'>
      {program.list.toSorted((a, b) => a.n - b.n).map((one) => (
        <li key={one.n} data-testid='program-call' data-state={one.state}>
          <Icon name={marks[one.state]} />
          <span>
            {titleOf(one.tool) ?? one.tool}: {wordsOfCall(one)}
          </span>
        </li>
      ))}
      {more > 0 && <li class='program-more'>and {formatCount(more, 'more call')}</li>}
    </ol>
  );
}

/** What the program has said that it will do, ticked as it happens. */
function Acts({ program: { acts }, titleOf }: Parameters<typeof Calls>[0]): JSX.Element | null {
  if (acts.length === 0) return null;
  return (
    <ul class='program-calls' aria-label='What it has said it will do'>
      {acts.map(({ tool, times, done }, i) => (
        <li key={i} data-state={done === times ? 'done' : 'waiting'}>
          <Icon name={done === times ? 'check' : 'wait'} />
          <span>
            May call {titleOf(tool) ?? tool} {formatCount(times, 'time')}: {done.toLocaleString('en')} done
          </span>
        </li>
      ))}
    </ul>
  );
}

/** A text from what strangers said, in a frame of its own: plain, without links. */
function Quote({ call }: { call: ToolCall }): JSX.Element | null {
  const quoted = quotedOf(call);
  if (!quoted) return null;
  return (
    <figure class='program-quoted' data-testid='quoted'>
      <blockquote>{quoted.text}</blockquote>
      <figcaption>From {quoted.from.join(', ')}, not from the agent</figcaption>
    </figure>
  );
}

/** What it returned. The name of a value that the agent has not seen is a pill. */
function Result({ value }: { value: unknown }): JSX.Element {
  if (typeof value !== 'string' || !isHandle.test(value)) return <JsonView label='Result' value={value} />;
  return <p class='handle-pill' title='The agent has this value’s name, not its text'>{value}</p>;
}

const isHandle = /^h\d+_\d+(?: \(a part\))?: untrusted /;

/** What the code threw, or why it was stopped. */
function Failure({ call, program }: { call: ToolCall; program: Program }): JSX.Element | null {
  if (program.state !== 'failed') return null;
  const { error } = (call.output ?? {}) as { readonly error?: unknown };
  const text = typeof error === 'string' ? error : call.failure?.message ?? call.errorText;
  return text === undefined ? null : <p class='tool-problem'>{text}</p>;
}

/** The code, as code in an answer is shown. */
function Code({ part: { call } }: { part: ToolPart }): JSX.Element {
  const text = useComputed(() => {
    const code = codeOf(call.value) ?? '';
    const fence = '`'.repeat(Math.max(3, ...[...code.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)));
    return `${fence}js\n${code}\n${fence}`;
  });
  return <Markdown text={text} isLive={false} />;
}

interface FoldedProps {
  readonly label: string;
  readonly testId: string;
  readonly children: () => JSX.Element;
}

function Folded({ label, testId, children }: FoldedProps): JSX.Element {
  const isOpen = useSignal(false);
  const id = useId();
  return (
    <section class='program-fold'>
      <Button
        kind='quiet'
        icon='chevron'
        testId={testId}
        aria-expanded={isOpen.value}
        aria-controls={id}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        {label}
      </Button>
      <div id={id} hidden={!isOpen.value}>{isOpen.value && children()}</div>
    </section>
  );
}
