/** All operations of an endpoint but those of a collection's records, as types: the typed client is made of them. */

import type { aguiOperations } from './routes/agui.ts';
import type { approvalOperations } from './routes/approvals.ts';
import type { auditOperations } from './routes/audit.ts';
import type { blobOperations } from './routes/blobs.ts';
import type { budgetOperations } from './routes/budgets.ts';
import type { chatOperations } from './routes/chat.ts';
import type { eventOperations } from './routes/events.ts';
import type { forkOperations } from './routes/forks.ts';
import type { groundingOperations } from './routes/grounding.ts';
import type { mcpContentOperations } from './routes/mcp-content.ts';
import type { messageOperations } from './routes/messages.ts';
import type { operatingOperations } from './routes/operations.ts';
import type { planOperations } from './routes/plans.ts';
import type { registryOperations } from './routes/registry.ts';
import type { runOperations } from './routes/runs.ts';
import type { signInOperations } from './routes/sign-ins.ts';
import type { storedChatOperations } from './routes/stored-chats.ts';
import type { subjectOperations } from './routes/subjects.ts';

/** By verb and path. */
export type EndpointOperations =
  & typeof aguiOperations
  & typeof approvalOperations
  & typeof auditOperations
  & typeof blobOperations
  & typeof budgetOperations
  & typeof chatOperations
  & typeof eventOperations
  & typeof forkOperations
  & typeof groundingOperations
  & typeof mcpContentOperations
  & typeof messageOperations
  & typeof operatingOperations
  & typeof planOperations
  & typeof registryOperations
  & typeof runOperations
  & typeof signInOperations
  & typeof storedChatOperations
  & typeof subjectOperations;
