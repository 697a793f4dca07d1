/** What a registry is composed of. */

import type { Authorize } from '../contracts/authorize.ts';
import type { EventSink } from '../contracts/event-sink.ts';
import type { Storage } from '../contracts/storage.ts';
import type { Audit } from '../events/audit.ts';
import type { OnError } from '../events/on-error.ts';
import type { EventRing } from '../events/event-ring.ts';
import type { PrivateOrigins } from '../base/private-origins.ts';
import type { ToolDefinition } from '../base/schema.ts';
import type { Handlers } from '../tools/define-tool.ts';

/** What a registry is made of. */
export interface RegistryOptions {
  /** Stores all records. A runtime over the same storage receives every change. */
  readonly storage: Storage;
  /** The composition's code tools: agents may name them; the registry cannot change them. */
  readonly tools?: readonly ToolDefinition[];
  /** The handlers of the runtime: a tool of type `function` or `extension` must name one in `config.handler`. */
  readonly handlers?: Handlers;
  /** Private origins that a provider's `baseUrl` may have, as `http://localhost:11434`, or `loopback`; none when absent. */
  readonly privateOrigins?: PrivateOrigins;
  /** Ids of the composition's data sources in code: agents may name them without a record. */
  readonly sources?: readonly string[];
  /** Receive the events of the registry. */
  readonly sinks?: readonly EventSink[];
  /** Keeps the last events for those who watch a runtime: that of the runtime. */
  readonly ring?: EventRing;
  /** Every write is written down there first; one that cannot be is refused. */
  readonly audit?: Audit;
  /** Called before every write of a principal (`registry.register`, `registry.update`, …). */
  readonly authorize?: Authorize;
  /** Called after each write with the keys for `invalidate` of a runtime over another storage. */
  readonly onChange?: (keys: readonly string[]) => void | Promise<void>;
  /** Receives what the error of a write does not contain: what sinks, `authorize` and `onChange` throw. */
  readonly onError?: OnError;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}
