import { isToolUIPart } from 'ai';
import { ToolCall } from './tool-call.tsx';
import type { Message } from './transport.ts';

type Decide = (approvalId: string, approved: boolean) => void;

export function MessageView(
  { message, onDecide }: { message: Message; onDecide: Decide },
) {
  return (
    <article className={message.role} data-role={message.role}>
      {message.parts.map((part, at) => <PartView key={at} part={part} onDecide={onDecide} />)}
      <Sources message={message} />
    </article>
  );
}

/** What `[1]` in the answer of an agent with data sources refers to. */
function Sources({ message }: { message: Message }) {
  const sources = message.parts.flatMap((part) => part.type === 'data-sources' ? part.data.sources : []);
  if (sources.length === 0) return null;
  return (
    <ul aria-label='Sources'>
      {sources.map(({ n, title, uri }) => (
        <li key={n}>
          [{n}] {/^https?:/.test(uri) ? <a href={uri}>{title ?? uri}</a> : title ?? uri}
        </li>
      ))}
    </ul>
  );
}

function PartView(
  { part, onDecide }: { part: Message['parts'][number]; onDecide: Decide },
) {
  if (part.type === 'text') return <p>{part.text}</p>;
  if (part.type === 'file') {
    return <p className='file'>{part.filename ?? part.mediaType}</p>;
  }
  if (part.type === 'data-output') {
    return <pre data-part='output'>{JSON.stringify(part.data, null, 2)}</pre>;
  }
  if (isToolUIPart(part)) return <ToolCall part={part} onDecide={onDecide} />;
  if (part.type === 'data-run' && part.data.state === 'cancelled') {
    return <p className='note'>Stopped</p>;
  }
  return null;
}
