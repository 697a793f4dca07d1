import { afterEach, describe, expect, it, vi } from 'vitest';
import { convertUnitsTool } from '../../../demo/tools/convert-units.ts';
import { dateMathTool } from '../../../demo/tools/date-math.ts';
import { textStatsTool } from '../../../demo/tools/text-stats.ts';
import { outcomeOf } from '../../fixtures/tools/tool-call.ts';
import recorded from '../../fixtures/tools/sample-answers.json' with { type: 'json' };

const friday = Date.UTC(2026, 10, 20, 22, 58, 31, 500);
const tools = [convertUnitsTool(), dateMathTool({ now: () => friday }), textStatsTool()];
const toolOf = (id: string) => tools.find((tool) => tool.definition.id === id) ?? expect.fail(`no tool ${id}`);

describe('the sample tools answer as recorded', () => {
  it.each(recorded.map((row, at) => ({ at, ...row })))('$at: $about', async ({ tool, input, answer }) => {
    expect(JSON.parse(JSON.stringify(await outcomeOf(toolOf(tool), input)))).toEqual(answer);
  });
});

describe('text_stats', () => {
  it('measures the longest text that it takes, and refuses a longer one', async () => {
    const measure = (text: string) => outcomeOf(toolOf('text_stats'), { text });
    expect(await measure('ahoy '.repeat(20_000))).toMatchObject({ words: 20_000 });
    expect(await measure('word '.repeat(600))).toMatchObject({ readingSeconds: 150, readingTime: '2 min 30 s' });
    expect(await measure('水'.repeat(1_000))).toMatchObject({ readingSeconds: 120, readingTime: '2 min 0 s' });
    expect(await measure('x'.repeat(100_001))).toMatchObject({ code: 'invalid_argument' });
  });
});

describe('date_math', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  it('counts as many working days until a date as it went on to find it', async () => {
    for (const days of [1, 2, 3, 4, 5, 6, 13, 260]) {
      for (const date of ['2026-11-16', '2026-11-18', '2026-11-20']) {
        const work = { operation: 'working_days', date };
        const { result: until } = await outcomeOf(toolOf('date_math'), { ...work, days });
        const counted = await outcomeOf(toolOf('date_math'), { ...work, until });
        expect(counted).toMatchObject({ workingDays: days + 1 });
      }
    }
  });

  it('says that the browser lacks Temporal', async () => {
    vi.stubGlobal('Temporal', undefined);
    delete (globalThis as { Temporal?: unknown }).Temporal; // as in an older browser
    const outcome = await outcomeOf(toolOf('date_math'), { operation: 'weekday' });
    expect(outcome).toMatchObject({ code: 'unavailable', retryable: false });
  });
});
