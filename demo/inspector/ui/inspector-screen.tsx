import type { JSX } from 'preact';
import { useSignalEffect } from '@preact/signals';
import { useEffect, useLayoutEffect } from 'preact/hooks';
import { createInspector, type Inspector, inspectorTabs } from '../state/inspector.ts';
import { agentOf, type Playground } from '../../app/state/playground.ts';
import { lazy } from '../../kit/lazy.tsx';
import { Swell } from '../../kit/mark.tsx';
import { oncePer } from '../../kit/hooks/once-per.ts';
import { OverScreen } from '../../kit/over-screen.tsx';
import { Elsewhere } from './elsewhere.tsx';
import { NotLoaded } from './not-loaded.tsx';
import { RunList } from './run-list.tsx';
import { RunView } from './run-view.tsx';

const EvalsPanel = lazy(async () => (await import('../../evals/ui/evals-panel.tsx')).EvalsPanel, {
  StandIn: Loading,
  Failure: NotLoaded,
});

/** What happened in runs, over the chat, which goes on behind it. */
export function InspectorScreen({ playground }: { playground: Playground }): JSX.Element {
  const inspector = inspectorOf(playground);
  const { opened, problem } = inspector;
  const { shown } = playground.inspector;
  const place = shown.value;
  const isShown = place !== undefined;
  const close = (): void => void (shown.value = undefined);
  const toList = (): void => {
    if (shown.peek()?.traceId === undefined) void inspector.showList(); // a run from a file was open
    shown.value = {};
  };
  const isComparing = place?.fork !== undefined;
  const toSteps = (): void => void (shown.value = { ...place, fork: undefined });
  const isList = place?.traceId === undefined && !opened.value;
  const isFromList = opened.value?.source === 'file' || place?.isListed === true;
  useLayoutEffect(() => showPlace(inspector, place), [place?.traceId, place?.planId, place?.via, isShown]);
  useTab(inspector, playground);
  return (
    <OverScreen
      playground={playground}
      name='inspector'
      label='Runs'
      title={titleOf(inspector, playground)}
      back={isComparing ? 'Back to the steps' : isList ? 'Back to the chat' : 'All runs'}
      onBack={isComparing ? toSteps : isList ? close : toList}
      onEscape={isComparing ? toSteps : isFromList ? toList : close}
      onClose={isList ? undefined : close}
      problem={problem.value}
    >
      <Content inspector={inspector} playground={playground} />
    </OverScreen>
  );
}

function Content({ inspector, playground }: { inspector: Inspector; playground: Playground }): JSX.Element | null {
  const run = inspector.opened.value;
  const place = playground.inspector.shown.value;
  if (isEvals(place)) return <EvalsPanel playground={playground} />;
  if (run) {
    return <RunView key={run.record.value.head.traceId} run={run} inspector={inspector} playground={playground} />;
  }
  const refusal = inspector.refusal.value;
  if (refusal) return <Elsewhere url={place?.via ?? ''} traceId={place?.traceId ?? ''} refusal={refusal} />;
  if (place?.traceId === undefined) return <RunList inspector={inspector} playground={playground} />;
  return inspector.problem.value === undefined ? <Loading /> : null;
}

function isEvals(place: Playground['inspector']['shown']['value']): boolean {
  return place?.traceId === 'evals';
}

function Loading(): JSX.Element {
  return (
    <p class='waiting is-centred' role='status'>
      <Swell />
      <span class='visually-hidden'>Reading the run</span>
    </p>
  );
}

function titleOf({ opened }: Inspector, { agents, inspector: { shown } }: Playground): string {
  const run = opened.value;
  if (isEvals(shown.value)) return 'Test cases';
  if (run) return `Run of ${agentOf(agents, run.record.value.head.agentId).name}`;
  return shown.value?.traceId === undefined ? 'Runs' : 'Run';
}

/** The tab is a part of the address: each follows the other. */
function useTab(inspector: Inspector, { inspector: { shown } }: Playground): void {
  const wanted = shown.value?.tab;
  useEffect(() => {
    const tab = inspectorTabs.find((each) => each === (wanted ?? 'timeline'));
    if (tab && inspector.opened.peek() && inspector.tab.peek() !== tab) inspector.show(tab);
  }, [wanted]);
  useSignalEffect(() => {
    const tab = inspector.tab.value === 'timeline' ? undefined : inspector.tab.value;
    const place = shown.peek();
    if (!inspector.opened.value || place?.traceId === undefined || place.tab === tab) return;
    shown.value = { ...place, tab, fork: undefined };
  });
}

/** A run that was opened from a file stays until the person goes elsewhere. */
function showPlace(inspector: Inspector, place: Playground['inspector']['shown']['value']): void {
  if (!place) return;
  if (place.traceId === undefined) void inspector.showList();
  else if (isEvals(place)) inspector.leave();
  else void inspector.open(place.traceId, place);
}

const inspectorOf = oncePer((playground: Playground): Inspector =>
  createInspector({
    control: playground.inspector.connect(),
    runAt: playground.inspector.runAt,
    announce: (text) => void (playground.announcement.value = text),
  })
);
