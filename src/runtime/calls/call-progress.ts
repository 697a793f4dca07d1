/** Shows in a run's stream how far a call is. */

import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import type { Progress } from '../../tools/tool.ts';

/** Less often than a person sees, and so often that a flood cannot fill the log of the run. */
const spacingMs = 250;
const maxParts = 200;

/** Returns the function that shows the progress of a call. Redacts before it cuts, so partial secrets cannot leak. */
export function createCallProgress(
  toolCallId: string,
  { redact, now, push }: {
    readonly redact: (text: string) => string;
    readonly now: () => number;
    readonly push: (chunk: UIMessageChunk) => void;
  },
): (progress: Progress) => void {
  let shownAt = -Infinity;
  let shown = 0;
  let highest = -Infinity;
  return ({ progress, total, message }) => {
    if (!Number.isFinite(progress) || progress <= highest) return;
    const isLast = progress === total;
    if (shown >= maxParts || (!isLast && now() - shownAt < spacingMs)) return;
    shown++;
    shownAt = now();
    highest = progress;
    const data = {
      toolCallId,
      progress,
      ...(Number.isFinite(total) && { total }),
      ...(message !== undefined && { message: redact(message).slice(0, 200).toWellFormed() }),
    };
    push({ type: 'data-tool-progress', id: toolCallId, data, transient: true });
  };
}
