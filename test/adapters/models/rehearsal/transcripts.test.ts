import { describe, expect, it } from 'vitest';
import { type ActiveTool, ask, type CallOptions, type Prompt } from './ask.ts';
import recorded from '../../../fixtures/rehearsal/transcripts.json' with { type: 'json' };

/** What a step was asked and answered, as recorded from the README, the docs, the tour, the templates, the page's tests, and by topic. */
interface Transcript {
  /** What the step shows. */
  readonly about?: string;
  readonly tools: number;
  readonly prompt: Prompt;
  readonly responseFormat?: NonNullable<CallOptions['responseFormat']>;
  readonly text: string;
  readonly calls: readonly (readonly [toolName: string, input: string])[];
}

const { tools, toolSets, transcripts } = recorded as unknown as { // safe: as recorded
  readonly tools: Readonly<Record<string, Omit<ActiveTool, 'type'>>>;
  readonly toolSets: readonly (readonly string[])[];
  readonly transcripts: readonly Transcript[];
};

function titleOf({ about, prompt }: Transcript): string {
  if (about !== undefined) return about;
  const last = prompt.findLast(({ role }) => role === 'user');
  return JSON.stringify(last?.content.at(-1)).slice(0, 120);
}

describe('rehearsal answers as recorded: as the README, the docs and the tour show, and by topic', () => {
  it.each(transcripts.map((transcript, at) => ({ at, title: titleOf(transcript), transcript })))(
    '$at: $title',
    async ({ transcript }) => {
      const { prompt, responseFormat, text, calls } = transcript;
      const active = (toolSets[transcript.tools] ?? []).map((name): ActiveTool => ({
        type: 'function',
        ...tools[name]!,
      }));
      const answer = await ask(prompt, active, { ...(responseFormat && { responseFormat }) });
      expect(answer.text).toBe(text);
      expect(answer.calls.map(({ toolName, input }) => [toolName, input])).toEqual(calls);
      expect(answer.finish).toBe(calls.length > 0 ? 'tool-calls' : 'stop');
    },
  );
});
