import { type DynamicToolUIPart, getToolName, type ToolUIPart } from 'ai';

const labels: Record<ToolUIPart['state'], string> = {
  'input-streaming': 'Preparing',
  'input-available': 'Running',
  'approval-requested': 'Waiting for you',
  'approval-responded': 'Decided',
  'output-available': 'Done',
  'output-error': 'Failed',
  'output-denied': 'Denied',
};

/** A call of a tool. A call that must be allowed shows its text, which the runtime builds from the actual input. */
export function ToolCall(
  { part, onDecide }: {
    part: ToolUIPart | DynamicToolUIPart;
    onDecide: (approvalId: string, approved: boolean) => void;
  },
) {
  return (
    <div className='call' data-tool={getToolName(part)} data-state={part.state}>
      <strong>{getToolName(part)}</strong> <span className='note'>{labels[part.state]}</span>
      {part.state === 'approval-requested'
        ? (
          <>
            <pre>{part.approval.requestReason}</pre>
            <button
              type='button'
              onClick={() => onDecide(part.approval.id, true)}
            >
              Allow
            </button>{' '}
            <button
              type='button'
              onClick={() => onDecide(part.approval.id, false)}
            >
              Deny
            </button>
          </>
        )
        : <pre>{JSON.stringify(part.input)}</pre>}
      {part.state === 'output-available' && <pre>{JSON.stringify(part.output, null, 2)}</pre>}
      {part.state === 'output-error' && <p className='error'>{part.errorText}</p>}
    </div>
  );
}
