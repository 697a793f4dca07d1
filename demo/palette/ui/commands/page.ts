import type { Playground } from '../../../app/state/playground.ts';
import { keyedActions, sayKey } from '../../../app/ui/actions.ts';
import { showAgents, showNewAgent, uncover } from '../../../app/state/screens.ts';
import { guideHref } from '../../../kit/guide-href.ts';
import { guideGroups } from '../../../guides.ts';
import type { Section } from '../../../agents/state/registry-pages.ts';
import type { Command } from './command.ts';

/** The actions with a key, and what opens something. */
export function pageCommands(playground: Playground): readonly Command[] {
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

export function registryCommands(playground: Playground): readonly Command[] {
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
export function guideCommands(): readonly Command[] {
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
