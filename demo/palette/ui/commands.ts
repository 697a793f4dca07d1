/** What is found in other places of the page: tools of agents, runs, and parts of files. */

import type { Section } from '../../agents/state/registry-pages.ts';
import { agentOf, type Playground } from '../../app/state/playground.ts';
import { showAgents, showNewAgent, showPlace, showRun, uncover } from '../../app/state/screens.ts';
import type { Theme } from '../../app/state/theme.ts';
import { type KeyedAction, keyedActions, sayKey } from '../../app/ui/actions.ts';
import { isRunning } from '../../chat/state/chat.ts';
import { answerText, type AssistantMessage } from '../../chat/state/message.ts';
import { planOf, planToFollow } from '../../chat/state/plan.ts';
import type { FilePart } from '../../control/knowledge-control.ts';
import type { RunHead } from '../../control/runs-control.ts';
import type { Excerpt, SearchHit } from '../../control/search-control.ts';
import { chatFind } from '../../find/ui/chat-find.ts';
import { guideGroups } from '../../guides.ts';
import { guideHref } from '../../kit/guide-href.ts';
import type { IconName } from '../../kit/icon.tsx';
import { isMac } from '../../kit/panel-cover.ts';
import { stateOfRun, wordOfRun } from '../../kit/run-status.tsx';
import { runTitles } from '../../runs/state/run-title.ts';

/** Returns everything the palette offers on the page as it is now: pages first, for what Enter does at once must cost nothing. */
export function commandsOf(playground: Playground): readonly Command[] {
  const ofAnswer = answerCommands(playground);
  const isBusy = isRunning(playground.chats.current.value);
  return [
    ...(isBusy ? ofAnswer : []), // to stop it
    ...pageCommands(playground),
    ...(isBusy ? [] : ofAnswer),
    ...agentCommands(playground),
    ...registryCommands(playground),
    ...toolCommands(playground),
    ...guideCommands(),
    ...modelCommands(playground),
    ...themeCommands(playground),
    ...chatCommands(playground),
  ];
}

/** Disconnects the model, if one is connected. */
function modelCommands({ settings }: Playground): readonly Command[] {
  if (settings.choice.value.type === 'rehearsal') return [];
  return [{
    id: 'rehearsal',
    icon: 'lock',
    title: 'Use the scripted demo',
    hint: 'Settings',
    words: 'rehearsal disconnect offline',
    go: () => void settings.useRehearsal(),
  }];
}

const themes: readonly (readonly [Theme, IconName, title: string])[] = [
  ['light', 'sun', 'Light theme'],
  ['dark', 'moon', 'Dark theme'],
  ['system', 'system', 'System theme'],
];

/** The other themes. */
function themeCommands({ theme }: Playground): readonly Command[] {
  return themes.filter(([id]) => id !== theme.value).map(([id, icon, title]) => ({
    id: `theme-${id}`,
    icon,
    title,
    hint: 'Settings',
    words: 'theme mode',
    go: () => void (theme.value = id),
  }));
}

export interface Command {
  readonly id: string;
  readonly icon: IconName;
  readonly title: string;
  /** What kind of thing it is. */
  readonly hint: string;
  /** The heading that it stands under; its hint, when absent. */
  readonly group?: string;
  /** What was found, with the words of the query, on a line of its own. */
  readonly excerpt?: Excerpt;
  /** What it is, in a text that is searched as well. */
  readonly about?: string;
  /** Other words that it is found by. */
  readonly words?: string;
  /** The key that does the same, as a person reads it. */
  readonly keys?: string;
  readonly go: () => void;
}

function commandOf({ id, icon, title, key, go }: KeyedAction, playground: Playground): Command {
  const hint = id === 'new-chat' ? 'Chat' : 'Page';
  return { id, icon, title, hint, keys: sayKey(key), go: () => go(playground) };
}

/** The actions with a key, and what opens something. */
function pageCommands(playground: Playground): readonly Command[] {
  return [
    ...keyedActions.map((action) => commandOf(action, playground)),
    {
      id: 'write',
      icon: 'rename',
      title: 'Write a message',
      hint: 'Chat',
      words: 'composer focus',
      keys: '/',
      go: () => {
        uncover(playground);
        playground.focusRequests.value++;
      },
    },
    {
      id: 'keys',
      icon: 'question',
      title: 'Keyboard shortcuts',
      hint: 'Page',
      words: 'keys help hotkeys',
      keys: '?',
      go: () => void (playground.overlay.value = 'keys'),
    },
    {
      id: 'new-agent',
      icon: 'plus',
      title: 'Create an agent',
      hint: 'Page',
      words: 'build make create',
      go: () => showNewAgent(playground),
    },
    {
      id: 'settings',
      icon: 'sliders',
      title: 'Settings: colors, keys, privacy and data',
      hint: 'Page',
      words: 'storage backup save delete everything erase export import theme',
      go: () => void (playground.screen.value = { name: 'settings' }),
    },
    {
      id: 'guard',
      icon: 'hand',
      title: 'Try to trick an agent: five attacks at three levels',
      hint: 'Page',
      words: 'security injection guarded watched trust',
      go: () => void (playground.screen.value = { name: 'guard' }),
    },
    {
      id: 'tour',
      icon: 'play',
      title: playground.tour.isShown.value ? 'Leave the tour' : 'Take the tour: two minutes of real runs',
      hint: 'Tour',
      words: 'help introduction learn',
      go: () => void (playground.tour.isShown.value = !playground.tour.isShown.value),
    },
  ];
}

const sections: readonly (readonly [Section, title: string, words: string])[] = [
  ['agent', 'Agents', 'instructions limits'],
  ['tool', 'Tools', 'http code'],
  ['mcpServer', 'MCP servers', 'validate approve'],
  ['provider', 'Providers', 'models prices'],
  ['dataSource', 'Data sources', 'grounding'],
  ['vault', 'Secrets', 'keys passphrase lock'],
  ['transfer', 'Import and export', 'backup json catalog download save'],
];

function registryCommands(playground: Playground): readonly Command[] {
  return sections.map(([section, title, words]) => ({
    id: `registry-${section}`,
    icon: 'records',
    title: section === 'agent' ? title : `Agents: ${title}`,
    hint: 'Page',
    words: `registry ${words}`,
    go: () => showAgents(playground, { section, where: 'page' }),
  }));
}

/** The guides. They open in a tab of their own, so a run in progress continues. */
function guideCommands(): readonly Command[] {
  const all = guideGroups.flatMap(({ guides }) => guides);
  const first = { page: 'index', title: 'Guides' };
  return [first, ...all].map(({ page, title }) => ({
    id: `guide-${page}`,
    icon: 'guide',
    title,
    hint: 'Guide',
    words: 'documentation help manual',
    go: () => openGuide(page),
  }));
}

export function openGuide(page: string, anchor?: string): void {
  open(guideHref(page, anchor), '_blank', 'noopener');
}

/** What can be done with the last answer of the open chat. */
function answerCommands(playground: Playground): readonly Command[] {
  const { chats } = playground;
  const chat = chats.current.value;
  const last = chat.messages.value.at(-1);
  if (last?.role !== 'assistant') return [];
  const traceId = last.facts.value.run?.traceId;
  const said = answerText(last);
  return [
    ...(isRunning(chat) ? runningCommands(playground) : [
      {
        id: 'again',
        icon: 'retry' as const,
        title: planToFollow(last) ? 'Continue the last answer' : 'Regenerate the last answer',
        hint: 'Answer',
        words: 'retry repeat',
        go: () => playground.retry(),
      },
    ]),
    ...planCommands(playground, last),
    {
      id: 'find',
      icon: 'search',
      title: 'Search in this chat',
      hint: 'Chat',
      words: 'find',
      keys: isMac() ? '⌘ F' : 'Ctrl F',
      go: () => {
        uncover(playground);
        setTimeout(() => chatFind(chat).open(), 0); // after the dialog restores the focus
      },
    },
    {
      id: 'share',
      icon: 'share',
      title: 'Share this chat as a link',
      hint: 'Chat',
      words: 'send copy',
      go: () => void (playground.overlay.value = 'share'),
    },
    ...(traceId === undefined ? [] : [{
      id: 'inspect',
      icon: 'waterfall' as const,
      title: 'Inspect the last answer’s run',
      hint: 'Answer',
      words: 'trace waterfall events prompt tokens',
      go: () => showRun(playground, { traceId, via: last.via, planId: planOf(last)?.planId }),
    }]),
    ...(said === '' ? [] : [{
      id: 'copy',
      icon: 'copy' as const,
      title: 'Copy the last answer',
      hint: 'Answer',
      go: () =>
        void navigator.clipboard.writeText(said).then(
          () => (playground.announcement.value = 'Copied'),
          () => (playground.announcement.value = 'Could not copy'),
        ),
    }]),
  ];
}

function runningCommands({ chats }: Playground): readonly Command[] {
  const run = chats.current.value.run.value;
  const isLeft = run?.reading.value.isLeft ?? false;
  return [
    {
      id: 'stop',
      icon: 'stop',
      title: 'Stop the run',
      hint: 'Answer',
      words: 'cancel abort',
      keys: 'Esc',
      go: () => chats.stop(),
    },
    isLeft
      ? {
        id: 'read-on',
        icon: 'play',
        title: 'Resume reading',
        hint: 'Answer',
        words: 'resume',
        go: () => run?.readOn(),
      }
      : {
        id: 'leave',
        icon: 'pause',
        title: 'Stop reading (the run continues)',
        hint: 'Answer',
        words: 'detach cut stream',
        go: () => run?.leave(),
      },
  ];
}

function planCommands(playground: Playground, answer: AssistantMessage): readonly Command[] {
  const plan = answer.via === undefined ? planToFollow(answer) : undefined;
  if (!plan) return [];
  const { paused } = plan.view.value;
  return [
    {
      id: 'plan-pause',
      icon: paused ? 'play' : 'pause',
      title: paused ? 'Resume the plan' : 'Pause the plan',
      hint: 'Plan',
      go: () => playground.steerPlan(paused ? 'resume' : 'pause'),
    },
    {
      id: 'plan-cancel',
      icon: 'cross',
      title: 'Cancel the plan',
      hint: 'Plan',
      go: () => playground.steerPlan('cancel'),
    },
  ];
}

/** A new chat with each agent. */
function agentCommands(playground: Playground): readonly Command[] {
  return playground.agents.map(({ id, name, description }) => ({
    id: `agent-${id}`,
    icon: 'plus',
    title: `New chat with ${name}`,
    hint: 'Agent',
    about: description,
    go: () => {
      uncover(playground);
      playground.chats.start(id);
    },
  }));
}

/** The other chats. */
function chatCommands(playground: Playground): readonly Command[] {
  const { agents, chats } = playground;
  return chats.list.value.filter((chat) => chat !== chats.current.value).map((chat) => ({
    id: `chat-${chat.id}`,
    icon: 'arrow',
    title: chat.title.value || 'Untitled',
    hint: agentOf(agents, chat.agentId.value).name,
    group: 'Recent chats',
    words: 'chat',
    go: () => {
      uncover(playground);
      void chats.open(chat.id);
    },
  }));
}

/** A chat that was found; going there finds the words in it. */
export function hitCommand(playground: Playground, { id, excerpt, found }: SearchHit): Command | undefined {
  const { agents, chats } = playground;
  const chat = chats.list.value.find((one) => one.id === id);
  if (!chat) return undefined;
  const go = async (): Promise<void> => {
    uncover(playground);
    await chats.open(id);
    if (found === undefined) return;
    const find = chatFind(chat);
    find.open();
    find.look(found);
  };
  return {
    id: `hit-${id}`,
    icon: 'search',
    title: chat.title.value || 'Untitled',
    hint: agentOf(agents, chat.agentId.value).name,
    group: 'Chats',
    ...(excerpt && { excerpt }),
    go: () => void go(),
  };
}

/** The tools of all agents, each once. */
function toolCommands(playground: Playground): readonly Command[] {
  const tools = new Map(
    playground.agents.toReversed()
      .flatMap(({ tools: own, name: agent }) => own.map((tool) => [tool.name, { ...tool, agent }])),
  );
  return [...tools.values()].map(({ name, title, description, agent }) => ({
    id: `tool-${name}`,
    icon: 'records',
    title,
    hint: agent,
    group: 'Tools',
    words: name,
    about: description,
    go: () => showAgents(playground, { section: 'tool', record: name, where: 'page' }),
  }));
}

/** The runs of the page, by their questions. */
export function runCommands(playground: Playground, runs: readonly RunHead[]): readonly Command[] {
  const titleOf = runTitles(playground, runs);
  return runs.map((run) => {
    const { name } = agentOf(playground.agents, run.agentId);
    return {
      id: `run-${run.traceId}`,
      icon: 'waterfall',
      title: titleOf(run),
      hint: `${name}, ${wordOfRun(stateOfRun(run))}`,
      group: 'Runs',
      words: `run ${name} ${run.traceId}`,
      go: () => showRun(playground, { traceId: run.traceId }),
    };
  });
}

/** A file that was found, at its part. */
export function fileCommand(
  playground: Playground,
  file: string,
  { part, excerpt }: { readonly part: FilePart | undefined; readonly excerpt: Excerpt | undefined },
): Command {
  const { piece = 0, lines } = part ?? {};
  return {
    id: `file-${file}`,
    icon: 'file',
    title: file,
    hint: 'File',
    group: 'Files',
    ...(excerpt && { excerpt }),
    go: () => showPlace(playground, { file, piece, ...(lines && { lines }) }),
  };
}
