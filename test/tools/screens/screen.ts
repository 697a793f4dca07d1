/** What a screen of the playground is, to tests and pictures: its name, and the way there. */

import type { Page } from 'playwright';
import type { InspectorTab } from '../../../demo/runs/state/inspector.ts';
import type { Overlay } from '../../../demo/app/state/screens.ts';
import type { RunsSection } from '../../../demo/app/state/route.ts';
import type { Beside } from '../../../demo/app/state/screens.ts';
import type { Section } from '../../../demo/agents/state/registry-pages.ts';
import type { ScreenServers } from '../servers/screen-servers.ts';
import type { OverScreenName } from '../../../demo/app/frame/over-screen.tsx';

/** Screens with parts are listed part by part. */
type Parted = 'agents' | 'runs';

/** Every screen that the page's own code names: a new one does not compile before it is in the table. */
type NamedScreen =
  | Exclude<OverScreenName, Parted>
  | Exclude<Overlay, 'none' | 'server'>
  | Exclude<Beside, 'knowledge'> // 'chat-cited' has it
  | `registry-${Section}`
  | `run-${InspectorTab}`
  | `server-${Exclude<RunsSection, 'tests'> | 'agents'}`;

/** States of screens that look otherwise than the screen does at first. */
type State =
  | `chat-${
    | 'welcome'
    | 'answer'
    | 'versions'
    | 'failed-tool'
    | 'approval'
    | 'program'
    | 'program-waiting'
    | 'cited'
    | 'find'
    | 'error'
    | 'retry'
    | 'plan'
    | 'plan-list'
    | 'plan-question'
    | 'long-names'}`
  | `mcp-${'review' | 'app' | 'question' | 'address' | 'sign-in'}`
  | `settings-${'endpoint' | 'pinnace'}`
  | `tour-${'start' | 'under-way'}`
  | 'tree-found'
  | `knowledge-${'empty' | 'found'}`
  | `record-${'page' | 'form' | 'tool' | 'refused' | 'mcpServer' | 'removal'}`
  | 'vault-open'
  | 'transfer-report'
  | `runs-${'empty' | 'list'}`
  | 'run-table'
  | 'fork-form'
  | 'fork-comparison'
  | 'evals'
  | `agent-${'new' | 'tools' | 'http' | 'code' | 'provider' | 'saved'}`
  | 'privacy-erase'
  | `server-${'none' | 'plan' | 'refused' | 'unreachable'}`
  | `failure-${'screen' | 'storage' | 'key'}`;

export type ScreenName = NamedScreen | State;

/** What a way may need to know. */
export interface Whereabouts {
  readonly playground: string;
  /** The address of a Pinnace endpoint that knows the playground. */
  readonly endpoint: string;
  /** MCP servers and a model server. */
  readonly servers: ScreenServers;
}

export interface Screen {
  /** In words, for a person. */
  readonly title: string;
  /** Whether the path starts at the playground's first visit instead of the previous screen. */
  readonly isFirst: boolean;
  /** Whether the screen is there only where the window is narrow. */
  readonly isNarrow?: boolean;
  /** Whether it and those after it show failures, of which the browser complains, too. */
  readonly isBroken?: boolean;
  readonly go: (page: Page, at: Whereabouts) => Promise<void>;
}

/** Returns a screen whose path starts at the playground's first visit. */
export function first(title: string, go: Screen['go'], how: Pick<Screen, 'isNarrow' | 'isBroken'> = {}): Screen {
  return { title, isFirst: true, go, ...how };
}

/** Returns a screen whose path starts at the previous screen of the table. */
export function next(title: string, go: Screen['go']): Screen {
  return { title, isFirst: false, go };
}
