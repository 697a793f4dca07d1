import { useSignalEffect } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect } from 'preact/hooks';
import type { ErrorData } from '../../../src/base/errors.ts';
import { OverScreen } from '../../app/frame/over-screen.tsx';
import type { Playground } from '../../app/state/playground.ts';
import type { RunScreen, RunsScreen as Place, RunsSection } from '../../app/state/route.ts';
import { showRuns, uncover } from '../../app/state/screens.ts';
import { hostOf } from '../../endpoint/state/endpoint.ts';
import { CopyButton } from '../../kit/copy-button.tsx';
import { oncePer } from '../../kit/hooks/once-per.ts';
import { useCurrentInView } from '../../kit/hooks/use-current-in-view.ts';
import { lazy } from '../../kit/lazy.tsx';
import { Swell } from '../../kit/mark.tsx';
import { Inspector, inspectorTabs } from '../state/inspector.ts';
import { runTitles } from '../state/run-title.ts';
import { NotLoaded } from './not-loaded.tsx';
import { RunList } from './run-list.tsx';
import { RunView } from './run-view.tsx';
import { WhereSwitch } from './server.tsx';
import { endpointOf } from '../../settings/state/settings.ts';

const instead = { StandIn: Loading, Failure: NotLoaded };
const EvalsPanel = lazy(async () => (await import('../../evals/ui/evals-panel.tsx')).EvalsPanel, instead);
const SchedulesTab = lazy(async () => (await import('../../schedules/schedules-tab.tsx')).SchedulesTab, instead);
const ServerRuns = lazy(async () => (await import('./server-runs.tsx')).ServerRuns, instead);

/** What happened in runs: the runs of this page or of the server, and the one that is open. */
export function RunsScreen({ playground, at }: { playground: Playground; at: Place | RunScreen }): JSX.Element {
  const inspector = inspectorOf(playground);
  const { opened, problem } = inspector;
  const { screen } = playground;
  const isFile = at.name === 'runs' && opened.value?.source === 'file';
  const run = at.name === 'run' ? at : undefined;
  useLayoutEffect(() => openPlace(inspector, at), [
    run?.traceId,
    run?.planId,
    run?.via,
    at.name === 'runs' && at.section,
  ]);
  useTab(inspector, playground);
  const { label, go } = wayBack(at, isFile, {
    toChat: () => uncover(playground),
    toList: () => void inspector.showList(), // a run from a file was open
    to: (place) => void (screen.value = place),
  });
  return (
    <OverScreen
      playground={playground}
      name='runs'
      label='Runs'
      title={titleOf(inspector, at, playground)}
      back={label}
      onBack={go}
      problem={problem.value}
      beside={at.name === 'runs' && !isFile && (
        <WhereSwitch
          where={at.where}
          playground={playground}
          onChoose={(where) => showRuns(playground, { where })}
        />
      )}
    >
      {at.name === 'run' || isFile
        ? <OneRun inspector={inspector} playground={playground} at={run} />
        : <Sections inspector={inspector} playground={playground} at={at} />}
    </OverScreen>
  );
}

interface Ways {
  readonly toChat: () => void;
  readonly toList: () => void;
  readonly to: (place: Place | RunScreen) => void;
}

/** One step up: from a comparison to the steps, from a run or a plan to its list, else to the chat. */
function wayBack(
  at: Place | RunScreen,
  isFile: boolean,
  ways: Ways,
): { readonly label: string; readonly go: () => void } {
  if (at.name === 'run' && at.fork !== undefined) {
    return { label: 'Back to the steps', go: () => ways.to({ ...at, fork: undefined }) };
  }
  if (at.name === 'run' && at.from) {
    const { from } = at;
    return { label: 'All runs', go: () => ways.to(from) };
  }
  if (isFile) return { label: 'All runs', go: ways.toList };
  if (at.name === 'runs' && at.planId !== undefined) {
    return { label: 'All plans', go: () => ways.to({ ...at, planId: undefined }) };
  }
  return { label: 'Back to the chat', go: ways.toChat };
}

function titleOf({ opened, list }: Inspector, at: Place | RunScreen, playground: Playground): string {
  const run = opened.value;
  if (run && (at.name === 'run' || run.source === 'file')) {
    return runTitles(playground, list.value?.runs)(run.record.value.head);
  }
  return at.name === 'run' ? 'Run' : 'Runs';
}

const sections: Readonly<Record<'page' | 'server', readonly (readonly [RunsSection, label: string])[]>> = {
  page: [['list', 'Runs'], ['schedules', 'Schedules'], ['tests', 'Test cases']],
  server: [['list', 'Runs'], ['schedules', 'Schedules'], ['plans', 'Plans'], ['audit', 'Audit log'], [
    'metrics',
    'Metrics',
  ]],
};

interface SectionsProps {
  readonly inspector: Inspector;
  readonly playground: Playground;
  readonly at: Place;
}

function Sections({ inspector, playground, at }: SectionsProps): JSX.Element {
  const via = at.where === 'server' ? endpointOf(playground.settings.choice.value) : undefined;
  const strip = useCurrentInView<HTMLElement>(at.section);
  return (
    <>
      <nav ref={strip} class='tabs' aria-label='Parts of runs'>
        {sections[at.where].map(([section, label]) => (
          <button
            key={section}
            type='button'
            class='tab'
            data-testid={`runs-tab-${section}`}
            aria-pressed={section === at.section}
            onClick={() => showRuns(playground, { where: at.where, section })}
          >
            {label}
          </button>
        ))}
      </nav>
      {at.section === 'schedules' && (at.where === 'page' || via !== undefined)
        ? <SchedulesTab playground={playground} via={via} />
        : at.where === 'server'
        ? <ServerRuns playground={playground} at={at} />
        : at.section === 'tests'
        ? <EvalsPanel playground={playground} />
        : <RunList inspector={inspector} playground={playground} />}
    </>
  );
}

interface OneRunProps {
  readonly inspector: Inspector;
  readonly playground: Playground;
  readonly at: RunScreen | undefined;
}

function OneRun({ inspector, playground, at }: OneRunProps): JSX.Element | null {
  const run = inspector.opened.value;
  if (run) {
    return <RunView key={run.record.value.head.traceId} run={run} inspector={inspector} playground={playground} />;
  }
  const refusal = inspector.refusal.value;
  if (refusal) return <Elsewhere url={at?.via ?? ''} traceId={at?.traceId ?? ''} refusal={refusal} />;
  return inspector.problem.value === undefined ? <Loading /> : null;
}

function Loading(): JSX.Element {
  return (
    <p class='waiting is-centred' role='status'>
      <Swell />
      <span class='visually-hidden'>Reading the run</span>
    </p>
  );
}

/** The tab is a part of the address: each follows the other. */
function useTab(inspector: Inspector, { screen }: Playground): void {
  const wanted = screen.value?.name === 'run' ? screen.value.tab : undefined;
  useEffect(() => {
    const tab = inspectorTabs.find((each) => each === (wanted ?? 'timeline'));
    if (tab && inspector.opened.peek() && inspector.tab.peek() !== tab) inspector.show(tab);
  }, [wanted]);
  useSignalEffect(() => {
    const tab = inspector.tab.value === 'timeline' ? undefined : inspector.tab.value;
    const at = screen.peek();
    if (!inspector.opened.value || at?.name !== 'run' || at.tab === tab) return;
    screen.value = { ...at, tab, fork: undefined };
  });
}

/** A run that was opened from a file stays until the person goes elsewhere. */
function openPlace(inspector: Inspector, at: Place | RunScreen): void {
  if (at.name === 'run') void inspector.open(at.traceId, at);
  else if (at.where === 'page' && at.section === 'list') void inspector.showList();
  else inspector.leave();
}

const inspectorOf = oncePer((playground: Playground): Inspector =>
  new Inspector({
    control: playground.runs.connect(),
    runAt: playground.runs.runAt,
    announce: (text) => void (playground.announcement.value = text),
    onErased: () => void playground.chatStore.searchIndex().then((index) => index.forget()).catch(() => undefined),
  })
);

interface ElsewhereProps {
  readonly url: string;
  readonly traceId: string;
  /** Why its events cannot be had. */
  readonly refusal: ErrorData;
}

/** Instead of a run at an endpoint whose events this page cannot have: why, and how its operators find it. */
export function Elsewhere({ url, traceId, refusal }: ElsewhereProps): JSX.Element {
  return (
    <div class='inspector-empty' data-testid='run-elsewhere' role='status'>
      <p>
        This run was at <strong>{hostOf(url)}</strong>. {reasonOf(refusal)} Its operators find it by the trace:
      </p>
      <p>
        <code>{traceId}</code> <CopyButton text={() => traceId} label='Copy' />
      </p>
    </div>
  );
}

function reasonOf({ code, message }: ErrorData): string {
  switch (code) {
    case 'forbidden':
      return 'You cannot see this run: it requires the permission “admin”, which this page does not have.';
    case 'not_found':
      return 'The endpoint no longer stores its events.';
    default:
      return `${message}.`;
  }
}
