import { isStepCount, jsonSchema, streamText, tool } from 'ai';
import { describe, expect, it } from 'vitest';
import { canaryRun, faultOfRuns } from '../../../fixtures/hostile/canary-run.ts';
import { callsTools, says, scriptedModel } from '../../../fixtures/model.ts';

describe('a run with planted secrets', () => {
  it('lets not one of them out, wherever and however they are echoed', async () => {
    expect(await faultOfRuns({ seed: Date.now() % 2 ** 31, runs: 50, placements: 20 })).toBeUndefined();
  });

  it('is looked at from every side, and still says what is no secret', async () => {
    const { exits, placements } = await canaryRun(7, 20);
    expect(exits).toMatchObject({
      stream: expect.stringContaining('data: [DONE]'),
      texts: expect.stringMatching(/mark-\d+-.*\[secret (?:provider|tool|server|mcp)\]/),
      headers: expect.stringContaining('x-run-id'),
      prompts: expect.stringMatching(/mark-\d+-.*\[secret (?:provider|tool|server|mcp)\]/),
      state: expect.stringContaining('"startedAt"'),
      replay: expect.stringContaining('data: [DONE]'),
      manifest: expect.stringContaining('careless'),
      metrics: expect.stringContaining('pinnace_tool_calls_total'),
      events: expect.stringContaining('tool.call'),
      storage: expect.stringContaining('mark-'),
      printed: '[]',
    });
    expect(new Set(placements.map(({ actor }) => actor))).toEqual(new Set(['tool', 'server', 'mcp', 'model']));
  });

  it("shows that the check works: the plain AI SDK passes a tool's error to the next prompt", async () => {
    const canary = 'canary-4f9aZ_q-77Kd0Lm2';
    const model = scriptedModel(callsTools({ tool: 'careless', input: {} }), says('ok'));
    const tools = {
      careless: tool({
        description: 'Says what it should not',
        inputSchema: jsonSchema<Record<string, never>>({ type: 'object' }),
        execute: (): string => {
          throw new Error(`GET https://api.example.com?key=${canary} failed`);
        },
      }),
    };
    await streamText({ model: model.model, tools, prompt: 'x', stopWhen: isStepCount(3), onError: () => undefined })
      .consumeStream();
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain(canary);
  });
});
