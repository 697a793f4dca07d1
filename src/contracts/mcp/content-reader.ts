/** Reading prompts and resources of pinned MCP servers, as the runtime is given it. */

import type { Principal } from '../../base/principal.ts';
import type { McpSelection, McpServer } from '../../base/schema.ts';
import type { Secret } from '../../base/secret.ts';
import type { McpApp } from './apps.ts';
import type {
  McpCompletion,
  McpPrompt,
  McpPromptEntry,
  McpResource,
  McpResourceEntry,
  McpTemplateEntry,
} from './content.ts';

/** What of which server is read, and for whom. */
export interface ContentTarget {
  readonly server: McpServer;
  readonly selection: McpSelection;
  readonly principal: Principal;
  readonly signal: AbortSignal;
  /** Returns the server's secret. */
  readonly secret: (server: McpServer) => Promise<Secret | undefined>;
  /** Redacts each access token, before it is used. */
  readonly protect: (token: Secret) => void;
  readonly redact: (text: string) => string;
}

/** A reader, whose connections are open until it closes. */
export interface ContentReader {
  read(uri: string, target: ContentTarget): Promise<McpResource>;
  /** Reads an approved app again. */
  app(wanted: Pick<McpApp, 'uri' | 'sha256'>, target: ContentTarget): Promise<McpApp>;
  prompt(name: string, given: Readonly<Record<string, string>>, target: ContentTarget): Promise<McpPrompt>;
  complete(request: CompletionOf, target: ContentTarget): Promise<McpCompletion>;
  close(): Promise<void>;
}

/** What is completed. */
export interface CompletionOf {
  readonly prompt?: string | undefined;
  readonly uriTemplate?: string | undefined;
  readonly argument: { readonly name: string; readonly value: string };
  readonly arguments: Readonly<Record<string, string>>;
}

/** Prompts and resources of pinned servers. */
export interface McpContent {
  /** Those of the pin that the agent may use and that have not drifted. */
  prompts(server: McpServer, selection: McpSelection): readonly McpPromptEntry[];
  resources(server: McpServer, selection: McpSelection): readonly McpResourceEntry[];
  templates(server: McpServer, selection: McpSelection): readonly McpTemplateEntry[];
  /** Rejects for an app that may not be shown now. */
  requireApp(wanted: Pick<McpApp, 'uri' | 'sha256'>, target: Pick<ContentTarget, 'server' | 'selection'>): void;
  /** Creates a reader without connections. */
  open(): ContentReader;
}
