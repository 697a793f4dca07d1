import { useComputed, useSignal, useSignalEffect } from '@preact/signals';
import type { JSX } from 'preact';
import { agentOf, type Playground } from '../../app/state/playground.ts';
import type { Chat } from '../../chat/state/chat.ts';
import { CopyButton } from '../../kit/copy-button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { formatCount } from '../../kit/format.ts';
import { Problem } from '../../kit/problem.tsx';
import { longestChatLink, toChatLink } from '../state/chat-link.ts';
import { hasTools, sharedChatOf } from '../state/shared-chat.ts';
import '../style.css';
import { Button } from '../../kit/button.tsx';

/** The open chat as a link, or as a file where it is too long for one. */
export function ShareDialog({ playground }: { playground: Playground }): JSX.Element {
  const chat = playground.chats.current.value;
  const close = (): void => void (playground.overlay.value = 'none');
  return (
    <Dialog class='dialog-plain share-chat' label='Share this chat' testId='share-chat' onClose={close}>
      <h2>Share this chat</h2>
      {chat.messages.value.length === 0
        ? <p>This chat has no messages yet. Send one first.</p>
        : <ShareForm key={chat.id} chat={chat} playground={playground} />}
      <div class='dialog-foot'>
        <Button testId='share-close' onClick={close}>Close</Button>
      </div>
    </Dialog>
  );
}

function ShareForm({ chat, playground }: { chat: Chat; playground: Playground }): JSX.Element {
  const withResults = useSignal(false);
  const link = useSignal<string | undefined>(undefined);
  const document = useComputed(() =>
    sharedChatOf(chat, { agent: agentOf(playground.agents, chat.agentId.value), withResults: withResults.value })
  );
  useSignalEffect(() => {
    const wanted = document.value;
    void toChatLink(wanted, `${location.origin}${location.pathname}`)
      .then((made) => void (document.peek() === wanted && (link.value = made)));
  });
  return (
    <>
      <p>
        The link contains the chat itself, so nothing is sent to a server. Everyone with the link can read the chat.
      </p>
      <p class='field-help'>
        It holds {formatCount(document.value.messages.length, 'message')}{' '}
        and the names of tools, without files, reasoning and other versions. What looks like a key is replaced.
      </p>
      {hasTools(chat) && (
        <label class='tick'>
          <input
            type='checkbox'
            data-testid='share-results'
            checked={withResults.value}
            onChange={({ currentTarget }) => (withResults.value = currentTarget.checked)}
          />
          Include the inputs and results of tools
        </label>
      )}
      {link.value !== undefined && <LinkField link={link.value} chat={chat} playground={playground} />}
    </>
  );
}

interface LinkFieldProps {
  readonly link: string;
  readonly chat: Chat;
  readonly playground: Playground;
}

function LinkField({ link, chat, playground }: LinkFieldProps): JSX.Element {
  const problem = useSignal<string | undefined>(undefined);
  const saveFile = (
    <Button
      icon='save'
      testId='share-file'
      onClick={() => void import('../../chat/ui/save-chat.ts').then(({ saveChat }) => saveChat(chat, playground))}
    >
      Save file
    </Button>
  );
  if (link.length > longestChatLink) {
    return (
      <>
        <p class='share-long' role='status' data-testid='share-too-long'>
          The chat is too long for a link:{' '}
          {formatCount(link.length, 'character')}, and mail programs and messengers cut links of more than{' '}
          {longestChatLink.toLocaleString('en')}. Save it as a file instead.
        </p>
        <div class='button-row'>{saveFile}</div>
      </>
    );
  }
  return (
    <>
      <input
        class='share-link'
        type='text'
        readOnly
        aria-label='Link to this chat'
        data-testid='chat-link'
        value={link}
        onFocus={({ currentTarget }) => currentTarget.select()}
      />
      <Problem text={problem.value} testId='share-problem' />
      <div class='button-row'>
        <CopyButton testId='copy-link' text={() => link} label='Copy link' isPrimary />
        {'share' in navigator && (
          <Button
            icon='share'
            testId='share-native'
            onClick={() => void shareNatively(link, chat).then((why) => (problem.value = why))}
          >
            Share…
          </Button>
        )}
        {saveFile}
      </div>
    </>
  );
}

/** Hands the link to an app of the person's choice. Returns why that failed; a person who changes their mind is no failure. */
async function shareNatively(url: string, { title }: Chat): Promise<string | undefined> {
  try {
    await navigator.share({ title: title.value, url });
    return undefined;
  } catch (error) {
    return error instanceof DOMException && error.name === 'AbortError'
      ? undefined
      : 'The browser could not share the link. Copy it instead.';
  }
}
