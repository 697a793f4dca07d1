import type { Playground } from '../../app/state/playground.ts';
import { isRunning } from '../../chat/state/chat.ts';
import { answerCommands } from './commands/answer.ts';
import { agentCommands, chatCommands } from './commands/chats.ts';
import type { Command } from './commands/command.ts';
import { toolCommands } from './commands/found.ts';
import { guideCommands, pageCommands, registryCommands } from './commands/page.ts';
import { modelCommands, themeCommands } from './commands/settings.ts';

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
