/** Passes on what MCP servers log: its text, without secrets, to the host; its shape to the sinks. */

import type { McpServer } from '../base/schema.ts';
import type { Secret } from '../base/secret.ts';
import type { McpAuthorization, McpLogMessage } from '../contracts/mcp/mcp-connector.ts';
import type { Emit } from '../events/events.ts';
import { summaryOf } from '../events/payload-summary.ts';
import type { Report } from '../events/report.ts';
import { createTraceId } from '../events/trace-ids.ts';
import { createRedactor, isRedactable } from '../permission/redaction/redactor.ts';
import type { ServerAccess } from './session.ts';

/** The longest text that is reported, in UTF-16 code units. */
const maxLength = 2000;

/** A log message of a server, as `onError` receives it. */
export class McpServerLog extends Error {
  override readonly name = 'McpServerLog';
}

const reported = new Set(['warning', 'error', 'critical', 'alert', 'emergency']);

/** Watches the secrets of one connection, which no text may contain. */
export function createServerLog(
  server: Pick<McpServer, 'id' | 'alias'>,
  { secret, authorization }: ServerAccess,
  { emit, report }: { readonly emit: Emit; readonly report?: Report | undefined },
): { readonly authorization: McpAuthorization | undefined; readonly onLog: (message: McpLogMessage) => void } {
  const secrets = new Set<Secret>(secret ? [secret] : []);
  const noted = <T extends Secret | undefined>(token: T): T => {
    if (token) secrets.add(token);
    return token;
  };
  return {
    authorization: authorization && {
      token: async () => noted(await authorization.token()),
      refused: async (...given) => noted(await authorization.refused(...given)),
    },
    onLog({ level, logger, data }) {
      const text = typeof data === 'string' ? data : JSON.stringify(data) ?? '';
      emit({
        traceId: createTraceId(),
        actor: { type: 'system', id: 'mcp' },
        action: 'mcp.log',
        target: { type: 'mcp-server', id: server.id },
        status: reported.has(level) ? 'error' : 'ok',
        latency: 0,
        error: null,
        payloadSummary: summaryOf({ level, length: text.length }),
      });
      if (!report || !reported.has(level)) return;
      const known = [...secrets].map((one) => ({ id: one.id, value: one.reveal() }));
      const { text: redact } = createRedactor(known.filter(({ value }) => isRedactable(value)));
      const from = logger === undefined ? '' : `, ${redact(logger)}`;
      const words = redact(text).slice(0, maxLength).toWellFormed();
      report(new McpServerLog(`MCP server "${server.alias}" logs (${level}${from}): ${words}`), {
        kind: 'mcp',
        id: server.id,
      });
    },
  };
}
