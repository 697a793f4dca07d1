import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { Playground } from '../../app/state/playground.ts';
import type { ToolPart } from '../../chat/state/message.ts';
import type { McpApp } from '../../../src/contracts/mcp/content.ts';
import { type AppBridge, connectApp } from '../state/app-bridge.ts';
import { appDocument } from '../state/app-document.ts';
import { type AppQuestion, createAppHost } from '../state/app-host.ts';
import { toAppResult } from '../state/app-result.ts';
import { guardFocus } from '../state/focus-guard.ts';
import { AppQuestionCard } from './app-question.tsx';

interface AppFrameProps {
  readonly part: ToolPart;
  readonly app: McpApp;
  readonly via: string | undefined;
  readonly playground: Playground;
  readonly onClose: () => void;
  /** A person has shown the app again after it took the focus. */
  readonly isTrusted: boolean;
  /** The app has taken the focus: close it. */
  readonly onTaken: () => void;
}

const heights = { least: 96, first: 240, most: 480 } as const;

/** An app in its frame, below the name of its server. Its questions are above the frame, which cannot cover them. */
export function AppFrame({ part, app, via, playground, onClose, isTrusted, onTaken }: AppFrameProps): JSX.Element {
  const { alias, host } = app;
  const id = useId();
  const height = useSignal<number>(heights.first);
  const isTall = useSignal(false);
  const question = useSignal<AppQuestion | undefined>(undefined);
  const bridge = useRef<AppBridge>(undefined);
  const frame = useRef<HTMLIFrameElement>(null);
  const look = useSignal(contextOf());
  useEffect(() => {
    const update = (): void => void (look.value = contextOf());
    const system = matchMedia(systemIsDark);
    const observe = new MutationObserver(update);
    system.addEventListener('change', update);
    observe.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    return () => {
      observe.disconnect();
      system.removeEventListener('change', update);
      question.value?.answer(undefined);
      bridge.current?.close();
    };
  }, []);
  useEffect(() => bridge.current?.setContext(look.value), [look.value]);
  useEffect(() => frame.current ? guardFocus(frame.current, { isTrusted, onTaken }) : undefined, []);
  function connect(target: HTMLIFrameElement): void {
    if (bridge.current) return onClose(); // the frame was replaced: nothing in it is the app any more
    const { port1, port2 } = new MessageChannel();
    const { name, input, output } = part.call.value;
    const appHost = createAppHost({ app, via, playground, question, height, onClose });
    const call = { tool: name, input, result: toAppResult(output) };
    bridge.current = connectApp(port1, { call, context: look.value, host: appHost });
    target.contentWindow?.postMessage({ title: `App from ${alias}`, document: appDocument(app) }, '*', [port2]);
  }
  const asked = question.value;
  const origins = [...new Set([...app.csp.connect, ...app.csp.resource])];
  const most = isTall.value ? Math.round(globalThis.innerHeight * 0.75) : heights.most;
  const shown = isTall.value ? most : Math.max(heights.least, Math.min(most, height.value));
  return (
    <section class='mcp-app' role='group' aria-labelledby={id} data-testid='app'>
      <header class='mcp-app-head'>
        <h3 id={id}>
          App from {alias} <span data-testid='app-host'>{host}</span>
        </h3>
        <button
          type='button'
          class='button'
          aria-pressed={isTall.value}
          data-testid='app-tall'
          onClick={() => (isTall.value = !isTall.value)}
        >
          Expand
        </button>
        <button type='button' class='button' data-testid='app-hide' onClick={onClose}>Hide</button>
      </header>
      {origins.length > 0 && (
        <p class='mcp-app-origins' data-testid='app-origins'>Can connect to {origins.join(', ')}</p>
      )}
      {asked && <AppQuestionCard question={asked} alias={alias} />}
      <div class='mcp-app-frame'>
        <iframe
          ref={frame}
          title={`App from ${alias} (${host})`}
          src='./mcp/apps/frame.html'
          sandbox='allow-scripts allow-forms'
          allow=''
          referrerpolicy='no-referrer'
          inert={asked !== undefined}
          style={{ height: `${shown}px` }}
          data-testid='app-frame'
          onLoad={({ currentTarget }) => connect(currentTarget)}
        />
      </div>
    </section>
  );
}

const systemIsDark = '(prefers-color-scheme: dark)';

/** How the page looks, for the app. */
function contextOf(): Readonly<Record<string, unknown>> {
  const chosen = document.documentElement.dataset['theme'];
  const isDark = chosen ? chosen === 'dark' : matchMedia(systemIsDark).matches;
  return {
    theme: isDark ? 'dark' : 'light',
    displayMode: 'inline',
    availableDisplayModes: ['inline'],
    containerDimensions: { maxHeight: heights.most },
    locale: navigator.language,
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    platform: 'web',
  };
}
