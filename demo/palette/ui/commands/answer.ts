import { isRunning } from '../../../chat/state/chat.ts';
import { answerText, type AssistantMessage } from '../../../chat/state/message.ts';
import { planOf, planToFollow } from '../../../chat/state/plan.ts';
import type { Playground } from '../../../app/state/playground.ts';
import { isMac } from '../../../kit/panel-cover.ts';
import { chatFind } from '../../../find/ui/chat-find.ts';
import { showRun, uncover } from '../../../app/state/screens.ts';
import type { Command } from './command.ts';

/** What can be done with the last answer of the open chat. */
export function answerCommands(playground: Playground): readonly Command[] {
  const { chats } = playground;
  const chat = chats.current.value;
  const last = chat.messages.value.at(-1);
  if (last?.role !== 'assistant') return [];
  const traceId = last.facts.value.run?.traceId;
  const said = answerText(last);
  return [
    ...(isRunning(chat) ? runCommands(playground) : [
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

function runCommands({ chats }: Playground): readonly Command[] {
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
