/** The page's side of WebMCP, both ways: its tools for agents of a worker, and an agent's tools for the browser. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import { isRecord } from '../../src/base/is-record.ts';
import { type ListedPageTool, type ModelContext, modelContext, type PageToolDefinition } from './model-context.ts';
import { answerPort, callPort, type PortCaller } from './port-calls.ts';
import { type AgentTool, type AgentToolAnswer, readCall } from './protocol.ts';

export { type ListedPageTool, type ModelContext, modelContext, type PageToolDefinition } from './model-context.ts';

const mostText = 1_000_000;
/** How long a person may take to decide on a call. */
const decideMs = 60_000;

/** The names that each {@link offerAgentTools} has registered in this page: agents are not offered their own tools. */
const offers = new Set<ReadonlySet<string>>();

/**
 * Answers a worker's `pageToolsConnector` on the other end of the port with the tools that this page registers, its forms included.
 * Tools of other origins and the ones that `offerAgentTools` registers are left out. Returns what ends it.
 *
 * @throws PinnaceError `unavailable` (`no_webmcp`) where the browser has no WebMCP.
 * @example
 * const { port1, port2 } = new MessageChannel();
 * servePageTools(port1);
 * worker.postMessage({ pageTools: port2 }, [port2]);
 */
export function servePageTools(
  port: MessagePort,
  options: { context?: ModelContext } = {},
): () => void {
  checkNames('serve tools', options, optional('context'));
  const { context = required() } = options;
  const own = async (): Promise<readonly ListedPageTool[]> =>
    (await context.getTools()).filter(({ name, origin }) =>
      !offers.values().some((names) => names.has(name)) && (origin === undefined || origin === globalThis.origin)
    );
  const server = answerPort(port, {
    list: async () => (await own()).map(definitionOf),
    call: async (params, { signal }) => {
      const { name, input } = readCall(params);
      const tool = (await own()).find((one) => one.name === name);
      if (!tool) throw new PinnaceError('not_found', 'Cannot call the tool: the page no longer registers it');
      return await execute(tool, input, { context, signal });
    },
  });
  const ended = new AbortController();
  context.addEventListener('toolchange', () => server.changed(), { signal: ended.signal });
  return () => {
    ended.abort();
    server.close();
  };
}

/** What a person should decide on. */
export interface ToolQuestion {
  readonly name: string;
  /** What the call does, in words. */
  readonly text: string;
  /** Aborts when the browser's agent gives up, and when the time is over. */
  readonly signal: AbortSignal;
}

/** How an agent's tools are offered. */
export interface OfferOptions {
  /** Asks the person; resolves with the decision. Without it, calls that need approval are refused. */
  readonly confirm?: (question: ToolQuestion) => Promise<boolean>;
  /** Receives why the tools could not be registered again after a change. */
  readonly onError?: (error: unknown) => void;
  /** The browser's `document.modelContext` when absent. */
  readonly context?: ModelContext;
}

/**
 * Registers the tools of a worker's `serveAgentTools` in this page, so that the browser's own agent can call them, and again whenever
 * they change. Inputs are checked, and calls are allowed, limited and audited in the worker. A call that needs approval asks `confirm`;
 * in a hidden page, and after 60 seconds without a decision, it is refused. Errors are values: `{ error: { code, message } }`.
 *
 * @throws PinnaceError `unavailable` (`no_webmcp`) where the browser has no WebMCP, and what the browser throws for a name that the page
 * has registered itself.
 * @example
 * const stop = await offerAgentTools(port, { confirm: ({ text }) => ask(text) });
 */
export async function offerAgentTools(
  port: MessagePort,
  given: OfferOptions = {},
): Promise<() => void> {
  checkNames('offer tools', given, optional('confirm', 'onError', 'context'));
  const { confirm, onError = () => {}, context = required() } = given;
  let registered = new AbortController();
  const offered = new Set<string>();
  offers.add(offered);
  let turn: Promise<void> = Promise.resolve();
  const worker = callPort(port, { onChanged: () => void (turn = turn.then(register).catch(onError)) });
  const withdraw = (): void => {
    registered.abort();
    offers.delete(offered);
    worker.close();
  };

  async function register(): Promise<void> {
    const tools = await worker.request('list', {}) as readonly AgentTool[]; // our own worker says so
    registered.abort();
    registered = new AbortController();
    offered.clear();
    for (const tool of tools) await offer(tool);
  }

  async function offer(tool: AgentTool): Promise<void> {
    offered.add(tool.name); // before the page lists it
    const run: PageToolDefinition['execute'] = (input, options = {}) =>
      answer(tool.name, input, { worker, confirm, ...options });
    try {
      await context.registerTool({ ...tool, execute: run }, { signal: registered.signal });
    } catch (error) {
      offered.delete(tool.name); // the page has a tool of this name
      throw error;
    }
  }

  try {
    await register();
  } catch (error) {
    withdraw();
    throw error;
  }
  return withdraw;
}

interface AnswerOptions {
  readonly worker: PortCaller;
  readonly confirm: OfferOptions['confirm'];
  readonly signal?: AbortSignal;
}

async function answer(name: string, input: unknown, { worker, confirm, signal }: AnswerOptions): Promise<unknown> {
  const request = async (approved?: boolean): Promise<AgentToolAnswer> =>
    await worker.request('call', { name, input, approved }, { ...(signal && { signal }) }) as AgentToolAnswer; // our own worker says so
  const first = await request();
  if (first.ok) return first.output;
  if (first.question === undefined || !confirm || isHidden()) return { error: first.error };
  const deadline = AbortSignal.any([AbortSignal.timeout(decideMs), ...(signal ? [signal] : [])]);
  const decision = await decided(confirm({ name, text: first.question, signal: deadline }), deadline);
  if (decision === undefined) return { error: first.error };
  const second = await request(decision);
  return second.ok ? second.output : { error: second.error };
}

function isHidden(): boolean {
  const { document } = globalThis as { readonly document?: { readonly visibilityState: string } };
  return document?.visibilityState === 'hidden';
}

/** Returns the decision; `undefined` when the signal aborts first. */
async function decided(decision: Promise<boolean>, signal: AbortSignal): Promise<boolean | undefined> {
  const over = Promise.withResolvers<undefined>();
  signal.addEventListener('abort', () => over.resolve(undefined), { once: true });
  return await Promise.race([decision, over.promise]);
}

function definitionOf({ name, title, description, inputSchema, annotations }: ListedPageTool): object {
  return {
    name,
    ...(title && { title }),
    description,
    inputSchema: schemaOf(inputSchema),
    annotations: { readOnlyHint: annotations?.readOnlyHint === true },
  };
}

function schemaOf(schema: ListedPageTool['inputSchema']): unknown {
  if (typeof schema !== 'string') return schema ?? { type: 'object' };
  try {
    const read: unknown = JSON.parse(schema);
    return isRecord(read) ? read : { type: 'object' };
  } catch {
    return { type: 'object' }; // a page may register anything
  }
}

/** Chromium takes the input as text where it lists the schema as text. */
async function execute(
  tool: ListedPageTool,
  input: unknown,
  { context, signal }: { readonly context: ModelContext; readonly signal: AbortSignal },
): Promise<{ readonly text: string; readonly isError: boolean }> {
  const given = typeof tool.inputSchema === 'object' ? input : JSON.stringify(input);
  try {
    const result = await context.executeTool(tool, given, { signal });
    const text = typeof result === 'string' ? result : JSON.stringify(result) ?? '';
    if (text.length > mostText) throw new PinnaceError('budget_exceeded', 'The result of the page’s tool is too long');
    return { text, isError: false };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof PinnaceError) throw error;
    return { text: 'The tool of the page failed.', isError: true }; // browsers give no text of the page
  }
}

function required(): ModelContext {
  const context = modelContext();
  if (context) return context;
  throw new PinnaceError('unavailable', 'Cannot use WebMCP: this browser does not have it', {
    details: { reason: 'no_webmcp' },
  });
}
