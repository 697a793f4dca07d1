import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Playground } from '../../app/state/playground.ts';
import type { RunsScreen } from '../../app/state/route.ts';
import { oncePer } from '../../kit/hooks/once-per.ts';
import { Problem } from '../../kit/problem.tsx';
import { type Console, createConsole } from '../state/console.ts';
import type { ConsoleControl } from '../../control/server-control.ts';
import { AuditTab } from './audit-tab.tsx';
import { MetricsTab } from './metrics-tab.tsx';
import { PlansTab } from './plans-tab.tsx';
import { RunsTab } from './runs-tab.tsx';
import { NoServer, useServer } from './server.tsx';

/** The runs, plans, audit log and metrics of the connected server. */
export function ServerRuns({ playground, at }: { playground: Playground; at: RunsScreen }): JSX.Element {
  const server = useServer(playground, true);
  const state = server.control && consoleOf(server.control);
  useEffect(() => state?.open(), [state]);
  useEffect(() => {
    if (state && state.planId.peek() !== at.planId) void state.openPlan(at.planId);
  }, [state, at.planId]);
  if (!state || server.url === undefined) return <NoServer server={server} playground={playground} />;
  return (
    <>
      <Readiness state={state} />
      <Problem text={state.problem.value} testId='console-problem' />
      <Tab state={state} url={server.url} playground={playground} at={at} />
    </>
  );
}

/** The state of a server lives as long as the page does: closed and opened again, it is as it was. */
const consoleOf = oncePer((control: ConsoleControl): Console => createConsole({ control }));

function Readiness({ state: { readiness: { value: ready } } }: { state: Console }): JSX.Element | null {
  if (ready.type === 'asking') return null;
  if (ready.type === 'refused') {
    return (
      <p class='console-ready' data-testid='console-ready' data-status='unknown'>
        Readiness unknown: {ready.error.message}
      </p>
    );
  }
  const checks = Object.entries(ready.value.checks ?? {}).map(([name, found]) => `${name} ${found}`);
  return (
    <p class='console-ready' data-testid='console-ready' data-status={ready.value.status}>
      {ready.value.status === 'ok' ? 'Ready' : 'Not ready'}: {checks.join(', ')}
    </p>
  );
}

interface TabProps {
  readonly state: Console;
  readonly url: string;
  readonly playground: Playground;
  readonly at: RunsScreen;
}

function Tab({ at: { section }, ...props }: TabProps): JSX.Element {
  switch (section) {
    case 'plans':
      return <PlansTab {...props} />;
    case 'audit':
      return <AuditTab {...props} />;
    case 'metrics':
      return <MetricsTab state={props.state} />;
    default:
      return <RunsTab {...props} />;
  }
}
