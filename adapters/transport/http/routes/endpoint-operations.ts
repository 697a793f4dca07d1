/** All operations of an endpoint but those of a collection's records, as types: the typed client is made of them. */

import type { aguiOperations } from './agui.ts';
import type { auditOperations, eventOperations } from './audit.ts';
import type { chatOperations, storedChatOperations } from './chat.ts';
import type { groundingOperations } from './grounding.ts';
import type { blobOperations, budgetOperations, subjectOperations } from './holdings.ts';
import type { inboxOperations } from './inbox.ts';
import type { mcpContentOperations, signInOperations } from './mcp-content.ts';
import type { operatingOperations } from './operations.ts';
import type { registryOperations } from './registry.ts';
import type { forkOperations, runOperations } from './runs.ts';
import type { scheduleOperations } from './schedules.ts';
import type { undoOperations } from './undo.ts';
import type { approvalOperations, messageOperations, planOperations } from './steering.ts';

export type EndpointOperations =
  & typeof aguiOperations
  & typeof approvalOperations
  & typeof auditOperations
  & typeof blobOperations
  & typeof budgetOperations
  & typeof chatOperations
  & typeof eventOperations
  & typeof forkOperations
  & typeof undoOperations
  & typeof groundingOperations
  & typeof inboxOperations
  & typeof mcpContentOperations
  & typeof messageOperations
  & typeof operatingOperations
  & typeof planOperations
  & typeof registryOperations
  & typeof runOperations
  & typeof scheduleOperations
  & typeof signInOperations
  & typeof storedChatOperations
  & typeof subjectOperations;
