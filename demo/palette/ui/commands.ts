import type { Playground } from '../../app/state/playground.ts';
import { answerCommands } from './commands/answer.ts';
import { agentCommands, chatCommands } from './commands/chats.ts';
import type { Command } from './commands/command.ts';
import { guideCommands, pageCommands, registryCommands } from './commands/page.ts';
import { modelCommands, themeCommands } from './commands/settings.ts';

/** Returns everything the palette offers on the page as it is now: the open answer first, chats last. */
export function commandsOf(playground: Playground): readonly Command[] {
  return [
    ...answerCommands(playground),
    ...pageCommands(playground),
    ...agentCommands(playground),
    ...registryCommands(playground),
    ...guideCommands(),
    ...modelCommands(playground),
    ...themeCommands(playground),
    ...chatCommands(playground),
  ];
}
