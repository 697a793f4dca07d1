/** The worker's registry and vault interface for the page. */

import type { Answer } from './answer.ts';
import type {
  CatalogExport,
  CatalogRecords,
  HistoryEntry,
  ImportReport,
  McpValidation,
  McpValidationInput,
  RecordKind,
  RegistryQuery,
} from '../../src/registry/index.ts';
import type { McpGrant, McpSignInCallback, McpSignInStart } from '../../src/contracts/mcp/sign-in.ts';
import type { Manifest } from '../../src/index.ts';
import type { Page } from '../../src/runtime/index.ts';
import type { TrialControl, VariantControl } from './trial-control.ts';

/** A record of any kind. At an endpoint, `readOnly` marks one that the deployment shares and this caller may not change. */
export type AnyRecord = CatalogRecords[RecordKind] & { readonly readOnly?: boolean };

/** A record, and what is known besides. */
export interface FoundRecord {
  readonly record: AnyRecord;
  /** A tool that is given as code: it can be switched off, and nothing else. */
  readonly isGiven: boolean;
  /** The agents that name it: it cannot be removed before they do no more. */
  readonly agents: readonly string[];
  /** Which tools an agent's next run has, and why not the others; absent while it is disabled. */
  readonly tools?: Manifest['tools'];
}

/** The registry of the page's worker. */
export interface RegistryControl extends VaultControl, SignInControl, TrialControl, VariantControl {
  list(kind: RecordKind, query: RegistryQuery): Promise<Answer<Page<AnyRecord>>>;
  get(kind: RecordKind, id: string): Promise<Answer<FoundRecord>>;
  /** Registers a record; without an id it is given one. */
  create(kind: RecordKind, record: object): Promise<Answer<AnyRecord>>;
  /** `version` is the revision that the person edited; `conflict` with the latest record when it has changed. */
  replace(kind: RecordKind, record: { readonly id: string }, version: number): Promise<Answer<AnyRecord>>;
  /** Takes effect at once: runs of an agent that is disabled are stopped. */
  setState(kind: RecordKind, id: string, state: 'active' | 'disabled'): Promise<Answer<void>>;
  /** Refused while something is bound to it. */
  remove(kind: RecordKind, id: string): Promise<Answer<void>>;
  /** What was done to a record, the last first. */
  history(kind: RecordKind, id: string, pageToken?: string): Promise<Answer<Page<HistoryEntry>>>;
  /** Reads the tools of an MCP server, and pins them on approval. */
  validate(serverId: string, request: McpValidationInput): Promise<Answer<McpValidation>>;
  exportAll(): Promise<Answer<CatalogExport>>;
  /** With `dryRun`, only reports what would change. */
  importAll(data: unknown, dryRun: boolean): Promise<Answer<ImportReport>>;
}

/** What is in the vault, without a value. */
export interface VaultState {
  readonly isOpen: boolean;
  /** Its secrets, locked or not: their ids, and the origins that may receive them. */
  readonly secrets: readonly { readonly id: string; readonly origins: readonly string[] }[];
}

/** The vault of the page's worker. Values go in and never come out. */
export interface VaultControl {
  vault(): Promise<Answer<VaultState>>;
  /** The first passphrase ever makes the vault. */
  unlockVault(passphrase: string): Promise<Answer<void>>;
  lockVault(): Promise<Answer<void>>;
  setSecret(secretId: string, value: string, origins: readonly string[]): Promise<Answer<void>>;
  /** Declares which origins may receive a secret; its value stays. */
  bindSecret(secretId: string, origins: readonly string[]): Promise<Answer<void>>;
  removeSecret(secretId: string): Promise<Answer<void>>;
}

/** A sign-in of the page's person at an MCP server. `locked`: its tokens open with the vault. */
export interface SignInRow extends Pick<McpGrant, 'issuer' | 'scopes' | 'expiresAt'> {
  readonly serverId: string;
  readonly alias: string;
  readonly resource: string;
  readonly state: 'active' | 'broken' | 'locked';
}

/** The sign-ins to MCP servers. Tokens go in and never come out. */
export interface SignInControl {
  /** The sign-ins at all servers; none at an endpoint, which has those of many people. */
  signIns(): Promise<Answer<readonly SignInRow[]>>;
  grant(serverId: string): Promise<Answer<McpGrant>>;
  startSignIn(serverId: string, redirectUri: string): Promise<Answer<McpSignInStart>>;
  finishSignIn(callback: McpSignInCallback): Promise<Answer<void>>;
  /** Erases the tokens, and revokes them where the authorization server can. */
  signOut(serverId: string): Promise<Answer<void>>;
}
