import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { type ErrorData, toData } from '../../../src/base/errors.ts';
import type { ConsoleControl } from '../worker/control.ts';
import { type Console, type ConsoleTab, createConsole } from '../state/console.ts';
import { hostOf } from '../../endpoint/state/endpoint.ts';
import { followInside } from '../../app/state/inside.ts';
import type { Playground } from '../../app/state/playground.ts';
import { goIn, placeOf } from '../../registry/state/registry-place.ts';
import { createRegistryPages, type RegistryPages } from '../../registry/state/registry-pages.ts';
import { endpointOf } from '../../settings/state/settings.ts';
import { GuideLink } from '../../kit/guide-link.tsx';
import { OverScreen } from '../../kit/over-screen.tsx';
import { leaveForm, RegistryContent } from '../../registry/ui/registry-content.tsx';
import { useCurrentInView } from '../../kit/hooks/use-current-in-view.ts';
import { SectionTabs } from '../../registry/ui/sections.tsx';
import { AuditTab } from './audit-tab.tsx';
import { MetricsTab } from './metrics-tab.tsx';
import { PlansTab } from './plans-tab.tsx';
import { Asking, Refusal } from './refusal.tsx';
import { RunsTab } from './runs-tab.tsx';

/** The state of one endpoint's console. */
interface Desk {
  readonly url: string;
  readonly console: Console;
  readonly pages: RegistryPages;
}

/** The endpoint that is chosen, for those who operate it: over the chat, which goes on behind it. */
export function ConsoleScreen({ playground }: { playground: Playground }): JSX.Element {
  const url = endpointOf(playground.settings.choice.value);
  const desk = useDesk(url, playground);
  const close = (): void => void (playground.console.isShown.value = false);
  const { pages } = desk.value ?? {};
  const isRegistry = desk.value?.console.tab.value === 'registry';
  const isInside = isRegistry && (pages?.opened.value !== undefined || pages?.form.value !== undefined);
  const isPlan = desk.value?.console.tab.value === 'plans' && desk.value.console.plan.value !== undefined;
  const goBack = (): void => {
    if (isInside && pages?.form.peek()) leaveForm(pages, playground);
    else if (isInside) void pages?.close();
    else if (isPlan) void desk.value?.console.openPlan(undefined);
    else close();
  };
  const problem = isRegistry ? pages?.problem.value : desk.value?.console.problem.value;
  return (
    <OverScreen
      playground={playground}
      name='console'
      label='Console'
      title={url === undefined ? 'Console' : `Console of ${hostOf(url)}`}
      back={isInside || isPlan ? 'Back to the list' : 'Back to the chat'}
      onBack={goBack}
      onClose={isInside || isPlan ? close : undefined}
      problem={problem}
    >
      {url === undefined && <Nowhere playground={playground} />}
      {desk.value && <Tabs desk={desk.value} playground={playground} />}
      {url !== undefined && !desk.value && <Connecting error={desk.error} onRetry={desk.retry} />}
    </OverScreen>
  );
}

const desks = new WeakMap<Playground, Map<string, Desk>>();

/** The desk of an endpoint lives as long as the page does: closed and opened again, the console is as it was. */
function useDesk(
  url: string | undefined,
  playground: Playground,
): { readonly value: Desk | undefined; readonly error: ErrorData | undefined; readonly retry: () => void } {
  const known = desks.get(playground) ?? new Map<string, Desk>();
  desks.set(playground, known);
  const opened = useSignal<Desk | undefined>(url === undefined ? undefined : known.get(url));
  const refusal = useSignal<ErrorData | undefined>(undefined);
  const connect = async (to: string): Promise<void> => {
    refusal.value = undefined;
    try {
      const desk = deskOf(to, { control: await playground.console.connect(to), playground });
      known.set(to, desk);
      opened.value = desk;
    } catch (error) {
      refusal.value = toData(error);
    }
  };
  useEffect(() => {
    opened.value = url === undefined ? undefined : known.get(url);
    if (url !== undefined && !opened.value) void connect(url);
  }, [url]);
  useEffect(() => opened.value?.console.open(), [opened.value]);
  return {
    value: opened.value?.url === url ? opened.value : undefined,
    error: refusal.value,
    retry: () => void (url !== undefined && connect(url)),
  };
}

function deskOf(
  url: string,
  { control, playground }: { readonly control: ConsoleControl; readonly playground: Playground },
): Desk {
  const pages = createRegistryPages({
    control,
    isHere: false,
    onChanged: () => undefined, // the cards of the page are its own worker's
    announce: (text) => void (playground.announcement.value = text),
  });
  void pages.show('agent');
  const desk = { url, pages, console: createConsole({ control }) };
  followInside({
    at: playground.console.at,
    read: () => placeIn(desk),
    go: (at) => goInDesk(desk, at, playground),
  });
  return desk;
}

/** The tabs besides those of the registry. */
const tabs: readonly (readonly [ConsoleTab, label: string])[] = [
  ['runs', 'Runs'],
  ['plans', 'Plans'],
  ['metrics', 'Metrics'],
  ['audit', 'Audit'],
];

/** Where in the console the person is; empty for the list of agents. */
function placeIn({ console: { tab, planId }, pages }: Desk): readonly string[] {
  if (tab.value === 'plans' && planId.value !== undefined) return ['plans', planId.value];
  if (tab.value !== 'registry') return [tab.value];
  const place = placeOf(pages);
  return place.length === 0 ? [] : ['registry', ...place];
}

async function goInDesk(
  { console: desk, pages }: Desk,
  [wanted = 'registry', ...rest]: readonly string[],
  playground: Playground,
): Promise<void> {
  const { tab, planId } = desk;
  tab.value = tabs.find(([id]) => id === wanted)?.[0] ?? 'registry';
  if (tab.value === 'plans' && planId.peek() !== rest[0]) await desk.openPlan(rest[0]);
  if (tab.value === 'registry') await goIn(pages, rest, { onDirty: () => leaveForm(pages, playground) });
}

function Tabs({ desk, playground }: { desk: Desk; playground: Playground }): JSX.Element {
  const { console: { tab, readiness }, pages } = desk;
  const ready = readiness.value;
  const strip = useCurrentInView<HTMLElement>(`${tab.value} ${pages.section.value}`);
  return (
    <>
      <div class='console-head'>
        <nav ref={strip} class='tabs' aria-label='Console sections'>
          {tabs.map(([id, label]) => (
            <button
              key={id}
              type='button'
              class='tab'
              data-testid={`console-tab-${id}`}
              aria-pressed={id === tab.value}
              onClick={() => (tab.value = id)}
            >
              {label}
            </button>
          ))}
          <SectionTabs
            pages={pages}
            isShown={tab.value === 'registry'}
            onChoose={() => (tab.value = 'registry')}
          />
        </nav>
        {ready.type === 'refused' && (
          <p class='console-ready' data-testid='console-ready' data-status='unknown'>
            Readiness unknown: {ready.error.message}
          </p>
        )}
        {ready.type === 'there' && (
          <p class='console-ready' data-testid='console-ready' data-status={ready.value.status}>
            {ready.value.status === 'ok' ? 'Ready' : 'Not ready'}:{' '}
            {Object.entries(ready.value.checks ?? {}).map(([name, state]) =>
              `${name} ${state}`
            ).join(', ')}
          </p>
        )}
      </div>
      <Tab desk={desk} playground={playground} />
    </>
  );
}

function Tab(
  { desk: { url, console: state, pages }, playground }: { desk: Desk; playground: Playground },
): JSX.Element {
  const { value: tab } = state.tab;
  switch (tab) {
    case 'registry':
      return (
        <div class='registry'>
          <RegistryContent pages={pages} hasTabs={false} />
        </div>
      );
    case 'runs':
      return <RunsTab state={state} url={url} playground={playground} />;
    case 'plans':
      return <PlansTab state={state} url={url} playground={playground} />;
    case 'audit':
      return <AuditTab state={state} url={url} playground={playground} />;
    case 'metrics':
      return <MetricsTab state={state} />;
    default:
      return tab satisfies never;
  }
}

function Nowhere({ playground: { overlay } }: { playground: Playground }): JSX.Element {
  return (
    <div class='console-empty' data-testid='console-nowhere'>
      <p>The console shows the registry, runs, plans, metrics and audit log of a Pinnace endpoint, on Deno or Node.</p>
      <p>No endpoint is connected. This page signs every request with a key that never leaves its worker.</p>
      <p>
        <GuideLink page='endpoint'>Set up an endpoint</GuideLink>
      </p>
      <button type='button' class='button is-primary' onClick={() => (overlay.value = 'settings')}>
        Connect to an endpoint
      </button>
    </div>
  );
}

function Connecting({ error, onRetry }: { error: ErrorData | undefined; onRetry: () => void }): JSX.Element {
  if (!error) return <Asking what='the endpoint' />;
  return (
    <>
      <Refusal error={error} scope='admin' onRetry={onRetry} />
      <p class='console-empty'>
        <GuideLink page='deploy' anchor='requirements'>Endpoint requirements</GuideLink>
      </p>
    </>
  );
}
