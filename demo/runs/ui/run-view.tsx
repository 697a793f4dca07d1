import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Playground } from '../../app/state/playground.ts';
import type { Inspector, InspectorTab } from '../state/inspector.ts';
import type { OpenedRun } from '../state/opened-run.ts';
import { formatCount, formatDuration } from '../../kit/format.ts';
import { useCurrentInView } from '../../kit/hooks/use-current-in-view.ts';
import { lazy } from '../../kit/lazy.tsx';
import { RunStatus, stateOfRun } from '../../kit/run-status.tsx';
import { EventsView } from './events-view.tsx';
import { NotLoaded } from './not-loaded.tsx';
import { PromptView } from './prompt-view.tsx';
import { SaveRun } from './save-run.tsx';
import { Timeline } from './timeline.tsx';
import { ToolsView } from './tools-view.tsx';
import { UsageView } from './usage-view.tsx';

/** Loaded with its style sheet when it is first shown. */
const StepsPanel = lazy(async () => (await import('../../forks/ui/steps-panel.tsx')).StepsPanel, {
  Failure: NotLoaded,
});

const SaveCase = lazy(async () => (await import('../../evals/ui/save-case.tsx')).SaveCase);

interface RunViewProps {
  readonly run: OpenedRun;
  readonly inspector: Inspector;
  readonly playground: Playground;
}

/** How often what is open grows while a run goes on, in milliseconds. */
const tickMs = 250;

/** One run: its state and five views. */
export function RunView({ run, inspector, playground }: RunViewProps): JSX.Element {
  const isLive = run.isLive.value;
  useEffect(() => {
    if (!isLive) return undefined;
    const timer = setInterval(() => run.tick(), tickMs);
    return () => clearInterval(timer);
  }, [isLive]);
  return (
    <div class='run-view' data-testid='run-view' data-live={isLive}>
      <div class='run-summary'>
        <Summary run={run} />
        <SaveCase run={run} playground={playground} />
        <SaveRun run={run} inspector={inspector} />
      </div>
      <Tabs inspector={inspector} />
      <div class='run-panel' role='tabpanel' id='run-panel' aria-labelledby={`run-tab-${inspector.tab.value}`}>
        <Panel run={run} inspector={inspector} playground={playground} />
      </div>
    </div>
  );
}

function Panel({ run, inspector, playground }: RunViewProps): JSX.Element {
  const tab = inspector.tab.value;
  switch (tab) {
    case 'timeline':
      return <Timeline run={run} onPrompt={() => inspector.show('prompt')} />;
    case 'steps':
      return <StepsPanel run={run} playground={playground} />;
    case 'events':
      return <EventsView run={run} />;
    case 'tools':
      return <ToolsView tools={run.record.value.tools} />;
    case 'prompt':
      return <PromptView run={run} inspector={inspector} />;
    case 'usage':
      return <UsageView run={run} onPrompt={() => inspector.show('prompt')} />;
    default:
      return tab satisfies never;
  }
}

function Summary({ run }: Pick<RunViewProps, 'run'>): JSX.Element {
  const { head } = run.record.value;
  const total = run.breakdown.value.total;
  const facts = [
    new Date(head.startedAt).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'medium' }),
    formatDuration(head.durationMs ?? run.spans.value.endMs),
    ...(total.modelCalls > 0 ? [formatCount(total.modelCalls, 'model call')] : []),
    ...(total.toolCalls > 0 ? [formatCount(total.toolCalls, 'tool call')] : []),
    ...(head.tokens > 0 ? [formatCount(head.tokens, 'token')] : []),
    ...(total.failures > 0 ? [`${total.failures.toLocaleString('en')} failed`] : []),
    formatCount(head.events, 'event'),
    ...(head.dropped > 0 ? [`${formatCount(head.dropped, 'more event')} not stored: limit reached`] : []),
    ...(run.record.value.isPartial || head.isInterrupted ? ['some events are missing'] : []),
    ...(run.source === 'file' ? ['from a file'] : run.source === 'endpoint' ? ['at an endpoint'] : []),
  ];
  return (
    <p class='run-facts-line' data-testid='run-summary'>
      <RunStatus state={stateOfRun(head)} />
      {facts.map((fact, i) => <span key={i}>{fact}</span>)}
    </p>
  );
}

const tabs: readonly (readonly [InspectorTab, string])[] = [
  ['timeline', 'Timeline'],
  ['steps', 'Steps'],
  ['events', 'Events'],
  ['tools', 'Tools'],
  ['prompt', 'Prompt'],
  ['usage', 'Time and tokens'],
];

function Tabs({ inspector }: { inspector: Inspector }): JSX.Element {
  const { tab } = inspector;
  const strip = useCurrentInView<HTMLDivElement>(tab.value);
  const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLElement }): void => {
    const at = tabs.findIndex(([id]) => id === tab.peek()); // two keys may come before the strip is drawn again
    const steps: Readonly<Record<string, number>> = {
      ArrowRight: 1,
      ArrowLeft: -1,
      Home: -at,
      End: tabs.length - 1 - at,
    };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = (at + step + tabs.length) % tabs.length;
    inspector.show(tabs[next]?.[0] ?? 'timeline');
    event.currentTarget.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus();
  };
  return (
    <div ref={strip} class='tabs' role='tablist' aria-label='Run views' onKeyDown={onKeyDown}>
      {tabs.map(([id, label]) => (
        <button
          key={id}
          type='button'
          role='tab'
          id={`run-tab-${id}`}
          class='tab'
          data-testid={`run-tab-${id}`}
          aria-selected={tab.value === id}
          aria-controls='run-panel'
          tabIndex={tab.value === id ? 0 : -1}
          onClick={() => inspector.show(id)}
        >
          {label}
        </button>
      ))}
    </div>
  );
}
