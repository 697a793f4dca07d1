/** Removes an app that takes the focus while a person uses the page: what they type for the page would go to the app. */

import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { McpApp } from '../../../src/contracts/mcp/content.ts';
import type { Playground } from '../../app/state/playground.ts';
import type { ToolPart } from '../../chat/state/message.ts';
import { type AppBridge, connectApp } from '../state/app-bridge.ts';
import { type AppQuestion, createAppHost } from '../state/app-host.ts';
import { toAppResult } from '../state/app-result.ts';
import { UrlQuestion } from './url-question.tsx';
import { Button } from '../../kit/button.tsx';

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
  const look = useLook();
  useEffect(() => () => {
    question.value?.answer(undefined);
    bridge.current?.close();
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
        <Button testId='app-tall' aria-pressed={isTall.value} onClick={() => (isTall.value = !isTall.value)}>
          Expand
        </Button>
        <Button testId='app-hide' onClick={onClose}>Hide</Button>
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

/** How the page looks, for the app, as the theme changes. */
function useLook(): Signal<ReturnType<typeof contextOf>> {
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
    };
  }, []);
  return look;
}

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

/** An app can time a question to a click in its frame: buttons wait until a person has seen them. */
const unreadyMs = 700;

/** What an app wants, for a person to decide. */
function AppQuestionCard({ question, alias }: { question: AppQuestion; alias: string }): JSX.Element {
  const id = useId();
  const isReady = useSignal(false);
  const card = useRef<HTMLDivElement>(null);
  useEffect(() => {
    card.current?.scrollIntoView({ block: 'nearest' });
    isReady.value = false;
    const timer = setTimeout(() => (isReady.value = true), unreadyMs);
    return () => clearTimeout(timer);
  }, [question]);
  const isCall = question.type === 'call';
  return (
    <div
      ref={card}
      class='approval'
      role='group'
      aria-labelledby={id}
      data-testid='app-question'
      data-type={question.type}
    >
      <h4 id={id}>
        {isCall ? `Allow the app from ${alias} to make this call?` : `The app from ${alias} wants to open a link`}
      </h4>
      {question.type === 'call'
        ? <p class='mcp-app-call' data-testid='app-call'>{question.text}</p>
        : isReady.value && <UrlQuestion ask={{ url: question.url }} onOpen={() => question.answer(true)} />}
      <div class='approval-answers'>
        {isCall && (
          <Button
            kind='primary'
            testId='app-approve'
            disabled={!isReady.value}
            onClick={() => question.answer(true)}
          >
            Approve
          </Button>
        )}
        <Button testId='app-deny' disabled={!isReady.value} onClick={() => question.answer(false)}>
          {isCall ? 'Deny' : 'Don’t open'}
        </Button>
      </div>
    </div>
  );
}

/** Keys by which a person may move into the frame. */
const moves: ReadonlySet<string> = new Set(['Tab', 'F6']);
const modifiers: ReadonlySet<string> = new Set(['Shift', 'Control', 'Alt', 'Meta']);
/** After such a pause of typing, the focus may be that of a click or a tap which the page cannot see. */
const pauseMs = 2_000;

interface FocusGuardOptions {
  /** A person has shown the app again: only what takes the focus while they type is removed. */
  readonly isTrusted: boolean;
  readonly onTaken: () => void;
}

/** Guards a frame, and returns what ends that. Any frame may focus itself, inert ones too, and no sandbox prevents it. */
function guardFocus(frame: HTMLIFrameElement, { isTrusted, onTaken }: FocusGuardOptions): () => void {
  const ended = new AbortController();
  const options = { signal: ended.signal, capture: true };
  let last = document.activeElement;
  let isLed = false; // the pointer, or a key, has just gone to the frame
  let typedAt = -Infinity;
  frame.addEventListener('pointerenter', () => (isLed = true), options);
  document.addEventListener('keydown', ({ key, timeStamp }) => {
    if (modifiers.has(key)) return;
    isLed = moves.has(key);
    typedAt = timeStamp;
  }, options);
  document.addEventListener('focusin', ({ target }) => {
    if (target === frame || !(target instanceof Element)) return;
    last = target;
    isLed = false;
  }, options);
  globalThis.addEventListener('blur', ({ timeStamp }) => {
    if (document.activeElement !== frame || isLed) return;
    const isBelieved = isTrusted || frame.matches(':hover') || matchMedia('(hover: none)').matches;
    if (isBelieved && timeStamp - typedAt > pauseMs) return;
    if (!(last instanceof HTMLElement) || last === document.body || !last.isConnected) return;
    const own = last;
    frame.remove(); // at once: an app that goes on asking would get the next keys
    setTimeout(() => own.focus({ preventScroll: true })); // the focus has moved only after this event
    onTaken();
  }, { signal: ended.signal });
  return () => ended.abort();
}

/** Returns the document. The policy comes before everything that it governs. */
export function appDocument({ html, csp }: Pick<McpApp, 'html' | 'csp'>): string {
  return `<!doctype html><meta http-equiv="Content-Security-Policy" content="${appPolicy(csp)}">` +
    `<meta http-equiv="x-dns-prefetch-control" content="off">${html}`;
}

/** Returns the policy. Nested frames, plugins, workers and forms that are sent have no way out, whatever is approved. */
export function appPolicy({ connect, resource }: McpApp['csp']): string {
  const origins = resource.filter(isOrigin).join(' ');
  const requests = connect.filter(isOrigin).join(' ');
  return [
    "default-src 'none'",
    `script-src 'unsafe-inline' ${origins}`,
    `style-src 'unsafe-inline' ${origins}`,
    `img-src data: blob: ${origins}`,
    `font-src data: ${origins}`,
    `media-src data: blob: ${origins}`,
    `connect-src ${requests || "'none'"}`,
    "worker-src 'none'",
    "frame-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].map((directive) => directive.trim()).join('; ');
}

/** The runtime has checked them; an endpoint may be another's. */
function isOrigin(text: string): boolean {
  return /^(?:https?|wss?):\/\/(?:\*\.)?[a-z\d.-]+(?::\d{1,5})?$/.test(text);
}
