/** One attempt of a person to sign in to an MCP server: the window, the way back, and what went wrong in plain words. */

import { type ReadonlySignal, signal } from '@preact/signals';
import type { McpSignInCallback, McpSignInStart } from '../../../src/contracts/mcp/sign-in.ts';
import { signInProblem } from './sign-in-words.ts';

/** `blocked`: the browser opened no window, and the person opens the address. */
type SignInStep = 'ready' | 'starting' | 'waiting' | 'blocked' | 'finishing' | 'done';

export interface SignInAttempt {
  readonly step: ReadonlySignal<SignInStep>;
  /** Where the person signs in, when the browser opened no window. */
  readonly url: ReadonlySignal<string | undefined>;
  /** Whether the window seems closed. A window of another site can look so, and the sign-in can still be finished. */
  readonly isClosed: ReadonlySignal<boolean>;
  readonly problem: ReadonlySignal<string | undefined>;
  /** Opens the window. Call it while a click is handled: a browser blocks windows that open later. */
  begin(): void;
  /** Stops waiting. */
  leave(): void;
}

interface SignInOptions {
  readonly issuerHost: string;
  readonly start: (redirectUri: string) => Promise<McpSignInStart>;
  readonly finish: (callback: McpSignInCallback) => Promise<void>;
  readonly onSignedIn: () => void;
  readonly openWindow?: () => Window | null;
}

const pollMs = 400;

/** Creates an attempt. Nothing is requested before `begin`. */
export function createSignIn(
  { issuerHost, start, finish, onSignedIn, openWindow = openBlank }: SignInOptions,
): SignInAttempt {
  const step = signal<SignInStep>('ready');
  const url = signal<string | undefined>(undefined);
  const isClosed = signal(false);
  const problem = signal<string | undefined>(undefined);
  let leaveWindow = (): void => undefined;
  let channel: BroadcastChannel | undefined;

  function leave(): void {
    leaveWindow();
    channel?.close();
    channel = undefined;
    url.value = undefined;
    isClosed.value = false;
    if (step.value !== 'done') step.value = 'ready';
  }

  async function receive(answer: McpSignInCallback): Promise<void> {
    if (step.value === 'finishing' || step.value === 'done') return;
    step.value = 'finishing';
    const text = await finish(answer).then(() => undefined, (thrown: unknown) => signInProblem(thrown, issuerHost));
    const outcome: Outcome = { type: 'outcome', state: answer.state, isSignedIn: text === undefined, text: text ?? '' };
    channel?.postMessage(outcome);
    if (text === undefined) step.value = 'done';
    leave();
    problem.value = text;
    if (text === undefined) onSignedIn();
  }

  function listen(state: string): void {
    channel = new BroadcastChannel(channelName);
    channel.addEventListener('message', ({ data }) => {
      const callback = readCallback(data);
      if (callback?.state === state) void receive(callback);
    });
  }

  /** Leads the window to the authorization server. */
  async function show(opened: Window | null): Promise<void> {
    const { href, state } = addressOf(await start(new URL('oauth/callback.html', document.baseURI).href));
    listen(state);
    if (!opened || opened.closed) {
      url.value = href;
      step.value = 'blocked';
      return;
    }
    opened.location.replace(href);
    step.value = 'waiting';
    const timer = setInterval(() => (isClosed.value = opened.closed), pollMs);
    leaveWindow = () => clearInterval(timer);
  }

  return {
    step,
    url,
    isClosed,
    problem,
    leave,
    begin() {
      leave();
      problem.value = undefined;
      const opened = openWindow();
      step.value = 'starting';
      void show(opened).catch((thrown: unknown) => {
        opened?.close();
        step.value = 'ready';
        problem.value = signInProblem(thrown, issuerHost);
      });
    },
  };
}

/** The window has no way back to this page, wherever it goes. */
function openBlank(): Window | null {
  const opened = open('about:blank', '_blank', 'popup,width=520,height=720');
  if (opened) opened.opener = null;
  return opened;
}

/** An endpoint may send any address: only one of a web page is opened. */
function addressOf({ url }: McpSignInStart): { readonly href: string; readonly state: string } {
  const { href, protocol, hostname, searchParams } = new URL(url);
  const isWeb = protocol === 'https:' ||
    (protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(hostname));
  if (!isWeb) throw new Error('The address of the sign-in is not an https address');
  return { href, state: searchParams.get('state') ?? '' };
}

/** The name of the `BroadcastChannel`. */
const channelName = 'pinnace-sign-in';

/** What became of a sign-in. Only the page that started it knows its `state`. */
interface Outcome {
  readonly type: 'outcome';
  readonly state: string;
  readonly isSignedIn: boolean;
  /** What went wrong. */
  readonly text: string;
}

const maxLength = 4096;

/** Returns what the authorization server sent back with the person. The runtime checks it again. */
function readCallback(data: unknown): McpSignInCallback | undefined {
  if (typeof data !== 'object' || data === null || !('type' in data) || data.type !== 'callback') return undefined;
  const fields = data as Readonly<Record<string, unknown>>; // any object
  const texts = (['state', 'code', 'error', 'iss'] as const).flatMap((name) => {
    const value = fields[name];
    return typeof value === 'string' && value !== '' && value.length <= maxLength ? [[name, value] as const] : [];
  });
  const { state = '', ...answer }: Partial<McpSignInCallback> = Object.fromEntries(texts);
  return state === '' ? undefined : { state, ...answer };
}
