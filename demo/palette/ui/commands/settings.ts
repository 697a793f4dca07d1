import type { Playground } from '../../../app/state/playground.ts';
import type { Theme } from '../../../app/state/theme.ts';
import type { IconName } from '../../../kit/icon.tsx';
import type { Command } from './command.ts';

/** Disconnects the model, if one is connected. */
export function modelCommands({ settings }: Playground): readonly Command[] {
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
export function themeCommands({ theme }: Playground): readonly Command[] {
  return themes.filter(([id]) => id !== theme.value).map(([id, icon, title]) => ({
    id: `theme-${id}`,
    icon,
    title,
    hint: 'Settings',
    words: 'theme mode',
    go: () => void (theme.value = id),
  }));
}
