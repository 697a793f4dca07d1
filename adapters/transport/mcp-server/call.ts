/** One `tools/call`, from the name to the result, the same for every transport. */

import { type PinnaceError, toData } from '../../../src/base/errors.ts';
import type { AgentTools } from '../../../src/runtime/agent-tools.ts';
import { parseTraceparent } from '../../../src/events/trace-ids.ts';
import type { LogLevel, Progress, Tool } from '../../../src/tools/tool.ts';
import { requireCapabilities } from './capabilities.ts';
import type { Asking } from './questions/asking.ts';
import { type CallResult, toCallResult, toErrorResult, toProtocolError } from './result.ts';
import type { Toolbox } from './toolbox.ts';

/** What a call needs of the protocol. */
export interface CallContext {
  readonly signal: AbortSignal;
  readonly progressToken: string | number | undefined;
  /** The `traceparent` of the request's `_meta`, not validated. */
  readonly traceparent?: unknown;
  /** The capabilities that the client declares; `undefined` where the protocol has none. */
  readonly clientCapabilities: Readonly<Record<string, unknown>> | undefined;
  /** Sends a notification that belongs to the call. */
  readonly notify: (method: string, params: Readonly<Record<string, unknown>>) => Promise<void>;
  /** The questions of the call; absent where the client cannot be asked. */
  readonly asking?: Asking;
  /** Describes a call to the person who may approve it; absent where the host lets no client decide. */
  readonly describe?: AgentTools['describe'] | undefined;
  /** Sends a line of the tool's log, at a level of MCP. */
  readonly log: (level: 'debug' | 'info' | 'warning' | 'error', text: string) => Promise<void>;
}

/** A requested call. */
export interface RequestedCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Whether `tool_call` requested it: then the model also reads what is wrong with the name. */
  readonly nested?: boolean;
}

/**
 * Calls a discovery tool or an active tool, and returns the result.
 *
 * @throws Error with `code` -32602 and `data` for an unknown name, -32021 for a tool that needs a capability of the client.
 */
export async function callActive(
  { name, input, nested = false }: RequestedCall,
  { toolbox, call, context }: {
    readonly toolbox: Toolbox;
    readonly call: AgentTools['call'];
    readonly context: CallContext;
  },
): Promise<CallResult> {
  try {
    await toolbox.discovery.restore();
  } catch (error) {
    return toErrorResult(toData(error));
  }
  const tool = toolbox.find(name);
  if (!tool) return refuse(toolbox.discovery.notActive(name), nested);
  requireCapabilities(tool.definition, context.clientCapabilities);
  return await callTool(tool, input, { call, context });
}

function refuse(error: PinnaceError, nested: boolean): CallResult {
  if (nested || error.details?.['reason'] === 'tool_not_active') return toErrorResult(toData(error));
  throw toProtocolError(error);
}

async function callTool(
  tool: Tool,
  input: unknown,
  { call, context: { signal, progressToken, traceparent, notify, log, asking, describe } }: {
    call: AgentTools['call'];
    context: CallContext;
  },
): Promise<CallResult> {
  const ignore = (): void => undefined; // the client has left, and the call ends with it
  const progress = (update: Progress): void =>
    void notify('notifications/progress', { ...update, progressToken }).catch(ignore);
  const decided = asking?.decided();
  const outcome = await call(asking ? askable(tool, asking) : tool, input, {
    toolCallId: crypto.randomUUID(),
    signal,
    trace: parseTraceparent(typeof traceparent === 'string' ? traceparent : undefined),
    log: (text, level = 'info') => void log(levels[level], text.slice(0, 4096)).catch(ignore),
    ...(progressToken !== undefined && { progress }),
    ...(decided !== undefined && { approved: decided }),
  });
  const needsPerson = !outcome.ok && outcome.error.code === 'approval_required' && decided === undefined;
  if (needsPerson && asking?.client.canAnswer('form')) {
    const message = await describe?.({ tool, input, error: outcome.error });
    if (message !== undefined) asking.askApproval(message);
  }
  return toCallResult(outcome, tool.definition);
}

/** Returns the tool with a client that it can ask. A question ends the execution as a success: it is no failure of the tool. */
function askable(tool: Tool, asking: Asking): Tool {
  return {
    ...tool,
    async execute(input, context) {
      asking.redact = context.redact;
      try {
        return await tool.execute(input, { ...context, client: asking.client });
      } catch (thrown) {
        const pending = asking.pending();
        if (!pending) throw thrown;
        return { asked: Object.keys(pending.requests) };
      }
    },
  };
}

const levels = { debug: 'debug', info: 'info', warn: 'warning', error: 'error' } as const satisfies Record<
  LogLevel,
  string
>;
