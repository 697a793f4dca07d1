/** Takes the notifications of a server: changed lists, and log messages. */

import { asRecord } from '../../src/base/is-record.ts';
import type { McpLogMessage } from '../../src/contracts/mcp/mcp-connector.ts';
import type { Message } from './messages.ts';

/** Who is interested. */
export interface Listeners {
  readonly onToolsChanged: () => void;
  readonly onContentChanged: ((kind: 'prompts' | 'resources') => void) | undefined;
  readonly onLog: ((message: McpLogMessage) => void) | undefined;
}

/** The most log messages of one session. */
const maxLogs = 100;

/** Returns the function that takes the notifications of one session. */
export function createNotices({ onToolsChanged, onContentChanged, onLog }: Listeners): (notice: Message) => void {
  let logs = 0;
  return ({ method, params }) => {
    if (method === 'notifications/tools/list_changed') onToolsChanged();
    if (method === 'notifications/prompts/list_changed') onContentChanged?.('prompts');
    if (method === 'notifications/resources/list_changed') onContentChanged?.('resources');
    if (method === 'notifications/message' && onLog && ++logs <= maxLogs) onLog(toLog(asRecord(params)));
  };
}

const levels = new Set<unknown>([
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
]);

function toLog({ level, logger, data }: Readonly<Record<string, unknown>>): McpLogMessage {
  return {
    level: levels.has(level) ? String(level) : 'info',
    ...(typeof logger === 'string' && { logger: logger.slice(0, 100) }),
    data,
  };
}
