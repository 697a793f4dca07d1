/** Everything that can be done on the page as it is now, for the palette. */

import { isRunning } from '../../chat/state/chat.ts';
import { answerText, type AssistantMessage } from '../../chat/state/message.ts';
import { planOf, planToFollow } from '../../plan/state/plan.ts';
import { agentOf, type Playground } from '../../app/state/playground.ts';
import type { Section } from '../../registry/state/registry-pages.ts';
import type { Theme } from '../../app/state/theme.ts';
import { guideHref } from '../../kit/guide-href.ts';
import { guideGroups } from '../../guides.ts';
import { isMac, keyedActions, sayKey } from '../../app/ui/actions.ts';
import { chatFind } from '../../find/ui/chat-find.ts';
import type { IconName } from '../../kit/icon.tsx';
import { uncover } from '../../app/ui/over-chat.ts';

/** One entry of the palette. */
export interface Command {
  readonly id: string;
  readonly icon: IconName;
  readonly title: string;
  /** What kind of thing it is. */
  readonly hint: string;
  /** Other words that it is found by. */
  readonly words?: string;
  /** The key that does the same, as a person reads it. */
  readonly keys?: string;
  readonly go: () => void;
}

/** Returns them: what concerns the open answer first, chats last. */
export function commandsOf(playground: Playground): readonly Command[] {
  return [
    ...ofAnswer(playground),
    ...ofPage(playground),
    ...ofAgents(playground),
    ...ofRegistry(playground),
    ...ofGuides(),
    ...ofModel(playground),
    ...ofTheme(playground),
    ...ofChats(playground),
  ];
}

function ofAnswer(playground: Playground): readonly Command[] {
  const { chats, inspector } = playground;
  const chat = chats.current.value;
  const last = chat.messages.value.at(-1);
  if (last?.role !== 'assistant') return [];
  const traceId = last.facts.value.run?.traceId;
  const said = answerText(last);
  return [
    ...(isRunning(chat) ? ofRun(playground) : [
      {
        id: 'again',
        icon: 'retry' as const,
        title: planToFollow(last) ? 'Continue the last answer' : 'Regenerate the last answer',
        hint: 'Answer',
        words: 'retry repeat',
        go: () => playground.retry(),
      },
    ]),
    ...ofPlan(playground, last),
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
    ...(traceId === undefined ? [] : [{
      id: 'inspect',
      icon: 'waterfall' as const,
      title: 'Inspect the last answer’s run',
      hint: 'Answer',
      words: 'trace waterfall events prompt tokens',
      go: () => void (inspector.shown.value = { traceId, via: last.via, planId: planOf(last)?.planId }),
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

function ofRun({ chats }: Playground): readonly Command[] {
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
        title: 'Stop reading; the run goes on',
        hint: 'Answer',
        words: 'detach cut stream',
        go: () => run?.leave(),
      },
  ];
}

function ofPlan(playground: Playground, answer: AssistantMessage): readonly Command[] {
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

function ofPage(playground: Playground): readonly Command[] {
  return [
    ...keyedActions.map(({ id, icon, title, key, go }): Command => ({
      id,
      icon,
      title,
      hint: id === 'new-chat' ? 'Chat' : 'Page',
      keys: sayKey(key),
      go: () => go(playground),
    })),
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
      id: 'new-agent',
      icon: 'plus',
      title: 'New agent of your own',
      hint: 'Page',
      words: 'build make create',
      go: () => void (playground.workshop.value = { type: 'builder' }),
    },
    {
      id: 'compare',
      icon: 'columns',
      title: 'Compare two agents or models side by side',
      hint: 'Page',
      go: () => void (playground.workshop.value = { type: 'compare' }),
    },
    {
      id: 'privacy',
      icon: 'lock',
      title: 'Privacy and data: what is kept, export, import, erase',
      hint: 'Page',
      words: 'storage backup save delete everything',
      go: () => void (playground.privacy.isShown.value = true),
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

function ofAgents(playground: Playground): readonly Command[] {
  return playground.agents.map(({ id, name }) => ({
    id: `agent-${id}`,
    icon: 'plus',
    title: `New chat with ${name}`,
    hint: 'Agent',
    go: () => {
      uncover(playground);
      playground.chats.start(id);
    },
  }));
}

const sections: readonly (readonly [Section, title: string, words: string])[] = [
  ['agent', 'Agents', 'instructions limits'],
  ['tool', 'Tools', 'http code'],
  ['mcpServer', 'MCP servers', 'validate approve'],
  ['provider', 'Providers', 'models prices'],
  ['dataSource', 'Data sources', 'grounding'],
  ['vault', 'Vault of secrets', 'keys passphrase lock'],
  ['transfer', 'Import and export', 'backup json catalogue download save'],
];

function ofRegistry(playground: Playground): readonly Command[] {
  return sections.map(([section, title, words]) => ({
    id: `registry-${section}`,
    icon: 'records',
    title: `Registry: ${title}`,
    hint: 'Page',
    words,
    go: () => void openSection(playground, section),
  }));
}

/** The pages are fetched with the registry itself. */
async function openSection(playground: Playground, section: Section): Promise<void> {
  playground.registry.isShown.value = true;
  const { pagesOf } = await import('../../registry/ui/registry-screen.tsx');
  await pagesOf(playground).show(section);
}

function ofModel({ settings }: Playground): readonly Command[] {
  if (settings.choice.value.type === 'rehearsal') return [];
  return [{
    id: 'rehearsal',
    icon: 'lock',
    title: 'Use the embedded rehearsal model',
    hint: 'Settings',
    words: 'disconnect offline',
    go: () => void settings.useRehearsal(),
  }];
}

const themes: readonly (readonly [Theme, IconName, title: string])[] = [
  ['light', 'sun', 'Light colors'],
  ['dark', 'moon', 'Dark colors'],
  ['system', 'system', 'Colors as the system has them'],
];

function ofTheme({ theme }: Playground): readonly Command[] {
  return themes.filter(([id]) => id !== theme.value).map(([id, icon, title]) => ({
    id: `theme-${id}`,
    icon,
    title,
    hint: 'Settings',
    words: 'theme mode',
    go: () => void (theme.value = id),
  }));
}

/** Beside the page: a run that is under way goes on. */
function ofGuides(): readonly Command[] {
  const all = guideGroups.flatMap(({ guides }) => guides);
  const first = { page: 'index', title: 'Guides', words: 'documentation help manual' };
  return [first, ...all].map(({ page, title, words }) => ({
    id: `guide-${page}`,
    icon: 'guide',
    title,
    hint: 'Guide',
    words: `documentation ${words}`,
    go: () => void open(guideHref(page), '_blank', 'noopener'),
  }));
}

function ofChats(playground: Playground): readonly Command[] {
  const { agents, chats } = playground;
  return chats.list.value.filter((chat) => chat !== chats.current.value).map((chat) => ({
    id: `chat-${chat.id}`,
    icon: 'arrow',
    title: chat.title.value || 'Untitled',
    hint: agentOf(agents, chat.agentId.value).name,
    words: 'chat',
    go: () => {
      uncover(playground);
      void chats.open(chat.id);
    },
  }));
}
