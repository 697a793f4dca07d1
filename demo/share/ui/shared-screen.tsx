import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { uncover } from '../../app/state/screens.ts';
import type { Playground } from '../../app/state/playground.ts';
import type { Chat } from '../../chat/state/chat.ts';
import type { Message, Part } from '../../chat/state/message.ts';
import { ToolCard } from '../../chat/ui/tool-card.tsx';
import { Files } from '../../files/ui/lazy-files.tsx';
import { formatCount } from '../../kit/format.ts';
import { Mark } from '../../kit/mark.tsx';
import { OverScreen } from '../../app/frame/over-screen.tsx';
import { Markdown } from '../../markdown/ui/lazy-markdown.tsx';
import { chatFrom, fromChatLink, type ReadChat } from '../state/chat-link.ts';
import '../style.css';
import { Button } from '../../kit/button.tsx';

/** What came by the link. */
interface Arrival extends ReadChat {
  readonly kept: Chat;
}

/** A chat that came by a link: shown, and stored when the person says so. */
export function SharedScreen({ playground, hash }: { playground: Playground; hash: string }): JSX.Element {
  const arrival = useSignal<Arrival | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  useEffect(() => {
    arrival.value = undefined;
    problem.value = undefined;
    let isWanted = true;
    void read(hash, playground).then(
      (found) => void (isWanted && (arrival.value = found)),
      (error: unknown) => void (isWanted && (problem.value = problemOf(error))),
    );
    return () => void (isWanted = false);
  }, [hash]);
  const close = (): void => uncover(playground);
  const keep = ({ kept }: Arrival): void => {
    uncover(playground);
    void playground.chats.adopt(kept);
    playground.focusRequests.value++;
  };
  return (
    <OverScreen
      playground={playground}
      name='shared'
      label='Chat from a link'
      title='Shared chat'
      onBack={close}
      problem={problem.value}
    >
      <div class='shared-page' data-testid='shared-page' data-ready={arrival.value !== undefined}>
        {arrival.value
          ? <Contents arrival={arrival.value} playground={playground} />
          : problem.value === undefined && <p role='status'>Loading the link…</p>}
      </div>
      <div class='shared-foot'>
        <Button testId='shared-leave' onClick={close}>
          {problem.value === undefined ? 'No thanks' : 'Back to the chat'}
        </Button>
        {arrival.value && (
          <Button
            kind='primary'
            testId='shared-keep'
            onClick={() => arrival.value && keep(arrival.value)}
          >
            Save this chat
          </Button>
        )}
      </div>
    </OverScreen>
  );
}

async function read(hash: string, playground: Playground): Promise<Arrival> {
  const found = await fromChatLink(hash);
  const { id } = found.chat.agent;
  const agent = playground.agents.find((each) => each.id === id) ?? playground.agents[0];
  const kept = chatFrom(found.chat, {
    agentId: agent?.id ?? id,
    now: Date.now(),
    createId: () => crypto.randomUUID(),
  });
  return { ...found, kept };
}

function problemOf(error: unknown): string {
  return `This link cannot be opened: ${error instanceof Error ? error.message : 'unknown reason'}. ` +
    'Ask its sender for the chat as a file.';
}

function Contents({ arrival, playground }: { arrival: Arrival; playground: Playground }): JSX.Element {
  const { chat, hidden, kept } = arrival;
  const messages = kept.messages.value;
  return (
    <>
      <p class='shared-note'>
        The link itself holds this chat. Nothing is stored until you keep it. Anyone can write such a link: it does not
        prove what an agent did.
      </p>
      {hidden > 0 && (
        <p class='shared-note'>
          {formatCount(hidden, 'character')} that {hidden === 1 ? 'hides or reorders' : 'hide or reorder'} text{' '}
          {hidden === 1 ? 'was' : 'were'} removed.
        </p>
      )}
      <h2 class='shared-title' dir='auto'>{chat.title || 'Untitled'}</h2>
      <Continues chat={chat} kept={kept} playground={playground} />
      <div class='shared-messages' role='feed' aria-label='Messages' tabIndex={0} data-testid='shared-messages'>
        {messages.map((message, i) => (
          <article
            key={message.id}
            class={message.role === 'user' ? 'message question' : 'message'}
            aria-label={message.role === 'user' ? 'Question' : chat.agent.name}
            aria-posinset={i + 1}
            aria-setsize={messages.length}
            data-testid='shared-message'
            data-role={message.role}
          >
            <MessageView message={message} agentName={chat.agent.name} playground={playground} />
          </article>
        ))}
      </div>
    </>
  );
}

/** Which agent goes on with the chat, where that is another one. */
function Continues(
  { chat, kept, playground }: Pick<Arrival, 'chat' | 'kept'> & { playground: Playground },
): JSX.Element {
  const { id, name } = chat.agent;
  const agent = playground.agents.find((each) => each.id === kept.agentId.value);
  return (
    <p class='shared-note' data-testid='shared-agent'>
      {agent?.id === id
        ? `With ${name}. If you save the chat, your agent ${agent.name} continues it.`
        : `With ${name}, which this page does not have. If you keep the chat, ${
          agent?.name ?? 'an agent'
        } continues it.`}
    </p>
  );
}

interface MessageViewProps {
  readonly message: Message;
  readonly agentName: string;
  readonly playground: Playground;
}

function MessageView({ message, agentName, playground }: MessageViewProps): JSX.Element {
  if (message.role === 'user') {
    return (
      <>
        <h3 class='visually-hidden'>Question</h3>
        <div class='question-bubble'>
          {message.text !== '' && <p dir='auto'>{message.text}</p>}
          {message.files && <Files files={message.files.value} playground={playground} />}
        </div>
      </>
    );
  }
  return (
    <>
      <header class='message-head'>
        <Mark />
        <h3>{agentName}</h3>
        <span class='shared-model'>{message.model}</span>
      </header>
      {message.parts.value.map((part, i) => <PartView key={i} part={part} />)}
      {message.outcome.value.type === 'stopped' && <p class='ending'>The answer ended early.</p>}
    </>
  );
}

function PartView({ part }: { part: Part }): JSX.Element | null {
  if (part.type === 'text') return <Markdown text={part.text} isLive={false} />;
  if (part.type === 'tool') return <ToolCard part={part} />;
  return part.type === 'steering'
    ? (
      <div class='steering'>
        <p>{part.text}</p>
        <span>Sent while the agent worked</span>
      </div>
    )
    : null;
}
