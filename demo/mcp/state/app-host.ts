/** What the page does for an app: its calls go the way of every call, and a person decides on what leaves the page. */

import type { Signal } from '@preact/signals';
import type { Playground } from '../../app/state/playground.ts';
import { withoutHidden } from '../../share/state/shared-chat.ts';
import { PinnaceError } from '../../../src/base/errors.ts';
import type { McpApp } from '../../../src/contracts/mcp/content.ts';
import type { AppHost } from './app-bridge.ts';
import { type AppResult, failedResult, toAppResult } from './app-result.ts';

/** What a person decides on. `undefined`: the app was closed first. */
export type AppQuestion =
  | { readonly type: 'call'; readonly text: string; readonly answer: (approved: boolean | undefined) => void }
  | { readonly type: 'link'; readonly url: string; readonly answer: (isOpened: boolean | undefined) => void };

interface AppHostOptions {
  readonly app: McpApp;
  readonly via: string | undefined;
  readonly playground: Pick<Playground, 'rooms' | 'chats' | 'announcement'>;
  /** The open question; one at a time. */
  readonly question: Signal<AppQuestion | undefined>;
  readonly height: Signal<number>;
  readonly onClose: () => void;
}

/** The longest text for the composer, and the longest address, in UTF-16 code units. */
const maxText = 8192;
const maxUrl = 2048;
/** After so many refusals in a row, an app asks nothing more. */
const maxRefusals = 3;

/** Creates the host of one app. The server and the app of its calls are fixed: an app names only the tool and its input. */
export function createAppHost(
  { app, via, playground, question, height, onClose }: AppHostOptions,
): AppHost {
  const { server, uri, sha256, alias } = app;
  const chat = playground.chats.current.value;
  let refusals = 0;

  async function ask(made: (answer: AppQuestion['answer']) => AppQuestion): Promise<boolean | undefined> {
    if (question.value || refusals >= maxRefusals) return undefined;
    const { promise, resolve } = Promise.withResolvers<boolean | undefined>();
    question.value = made(resolve);
    playground.announcement.value = `The app from ${alias} asks you a question`;
    const answer = await promise;
    question.value = undefined;
    refusals = answer === true ? 0 : refusals + 1;
    return answer;
  }

  async function call(tool: string, input: Readonly<Record<string, unknown>>): Promise<AppResult> {
    const { apps } = await playground.rooms(via);
    const request = { server, uri, sha256, tool, arguments: input };
    const agentId = chat.agentId.value;
    const first = await apps.call(agentId, request);
    if (first.ok || first.question === undefined) return resultOf(first);
    const { question: text } = first;
    const approved = await ask((answer) => ({ type: 'call', text, answer }));
    if (approved === undefined) {
      return failedResult('The call was not made: another question is open, or a person has refused several');
    }
    return resultOf(await apps.call(agentId, { ...request, approved }));
  }

  return {
    async callTool(tool, input) {
      try {
        return await call(tool, input);
      } catch (error) {
        return failedResult(error instanceof PinnaceError ? error.message : 'The call failed');
      }
    },
    async openLink(url) {
      const parsed = url.length <= maxUrl ? URL.parse(url) : null;
      if (parsed?.protocol !== 'https:' || parsed.username !== '' || parsed.password !== '') return false;
      return await ask((answer) => ({ type: 'link', url: parsed.href, answer })) === true;
    },
    writeMessage(text) {
      const { draft } = chat;
      // What is there stays, the app's own words too: a person may be about to send them.
      if (draft.value.trim() !== '' || text.length > maxText) return false;
      const { text: shown } = withoutHidden(text);
      if (shown.trim() === '') return false;
      draft.value = shown;
      playground.announcement.value = `The app from ${alias} wrote a message. Read it before you send it`;
      return true;
    },
    resize: (wanted) => void (height.value = Math.round(wanted)),
    close: onClose,
  };
}

function resultOf(given: Awaited<ReturnType<Awaited<ReturnType<Playground['rooms']>>['apps']['call']>>): AppResult {
  return given.ok ? toAppResult(given.output) : failedResult(given.error.message);
}
