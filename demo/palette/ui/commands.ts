import type { Playground } from '../../app/state/playground.ts';
import type { Theme } from '../../app/state/theme.ts';
import { isRunning } from '../../chat/state/chat.ts';
import type { IconName } from '../../kit/icon.tsx';
import { answerCommands } from './commands/answer.ts';
import { agentCommands, chatCommands } from './commands/chats.ts';
import type { Command } from './commands/command.ts';
import { toolCommands } from './commands/found.ts';
import { guideCommands, pageCommands, registryCommands } from './commands/page.ts';

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
