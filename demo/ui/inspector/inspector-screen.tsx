import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { createInspector, type Inspector } from '../../state/inspector.ts';
import { agentOf, type Playground } from '../../state/playground.ts';
import { Icon } from '../icon.tsx';
import { Swell } from '../mark.tsx';
import { Elsewhere } from './elsewhere.tsx';
import { RunList } from './run-list.tsx';
import { RunView } from './run-view.tsx';

/** What happened in runs, over the chat, which goes on behind it. */
export function InspectorScreen({ playground }: { playground: Playground }): JSX.Element {
  const inspector = useMemo(() => inspectorOf(playground), [playground]);
  const { opened, problem } = inspector;
  const { shown } = playground.inspector;
  const back = useRef<HTMLButtonElement>(null);
  const place = shown.value;
  const close = (): void => void (shown.value = undefined);
  const goBack = (): void => {
    if (opened.peek()?.source === 'file' || shown.peek()?.traceId !== undefined) shown.value = {};
    else close();
  };
  useEffect(() => showPlace(inspector, place), [place]);
  useFocus(back, playground);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || event.defaultPrevented || playground.overlay.peek() !== 'none') return;
      if (document.querySelector('dialog[open]')) return; // it closes itself
      event.preventDefault();
      goBack();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [playground]);
  const run = opened.value;
  const isList = place?.traceId === undefined && !run;
  return (
    <main
      class='inspector'
      aria-label='Runs'
      data-testid='inspector'
      inert={playground.overlay.value === 'drawer'}
    >
      <header class='top-bar'>
        <button
          ref={back}
          type='button'
          class='icon-button inspector-back'
          data-testid='inspector-back'
          aria-label={isList ? 'Back to the chat' : 'All runs'}
          title={isList ? 'Back to the chat' : 'All runs'}
          onClick={goBack}
        >
          <Icon name='arrow' />
        </button>
        <h1 class='inspector-title'>{titleOf(inspector, playground)}</h1>
        {!isList && (
          <button
            type='button'
            class='icon-button'
            data-testid='inspector-close'
            aria-label='Back to the chat'
            onClick={close}
          >
            <Icon name='cross' />
          </button>
        )}
      </header>
      <div class='inspector-body'>
        {problem.value !== undefined && (
          <p class='inspector-problem' role='alert' data-testid='inspector-problem'>
            <Icon name='warning' />
            {problem.value}
          </p>
        )}
        <Content inspector={inspector} playground={playground} />
      </div>
    </main>
  );
}

function Content({ inspector, playground }: { inspector: Inspector; playground: Playground }): JSX.Element | null {
  const run = inspector.opened.value;
  const place = playground.inspector.shown.value;
  if (run) return <RunView key={run.record.value.head.traceId} run={run} inspector={inspector} />;
  if (place?.via !== undefined) return <Elsewhere url={place.via} traceId={place.traceId ?? ''} />;
  if (place?.traceId === undefined) return <RunList inspector={inspector} playground={playground} />;
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

function titleOf({ opened }: Inspector, { agents, inspector: { shown } }: Playground): string {
  const run = opened.value;
  if (run) return `Run of ${agentOf(agents, run.record.value.head.agentId).name}`;
  return shown.value?.traceId === undefined ? 'Runs' : 'Run';
}

/** A run that was opened from a file stays until the person goes elsewhere. */
function showPlace(inspector: Inspector, place: Playground['inspector']['shown']['value']): void {
  if (!place) return;
  if (place.traceId === undefined) void inspector.showList();
  else if (place.via === undefined) void inspector.open(place.traceId, place);
  else inspector.leave();
}

/** The screen has the focus until it is closed; then what opened it has it again, or the composer. */
function useFocus(first: { readonly current: HTMLElement | null }, { inspector, focusRequests }: Playground): void {
  useLayoutEffect(() => {
    const opener = document.activeElement;
    first.current?.focus();
    return () => {
      setTimeout(() => {
        if (inspector.shown.peek() || document.activeElement !== document.body) return;
        if (opener instanceof HTMLElement && opener.isConnected && opener !== document.body) opener.focus();
        else focusRequests.value++;
      }, 0);
    };
  }, []);
}

const known = new WeakMap<Playground, Inspector>();

/** The same state for as long as the page lives. */
function inspectorOf(playground: Playground): Inspector {
  const inspector = known.get(playground) ?? createInspector({
    control: playground.inspector.connect(),
    announce: (text) => void (playground.announcement.value = text),
  });
  known.set(playground, inspector);
  return inspector;
}
