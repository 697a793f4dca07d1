import { describe, expect, it } from 'vitest';
import { type ActiveTool, ask } from './ask.ts';
import { calculator, clock, several, weather } from './tools.ts';

/** The calls with their inputs as text, exactly as the model sends them. */
async function sent(message: string, tools: readonly ActiveTool[] = several): Promise<[string, string][]> {
  return (await ask(message, tools)).calls.map(({ toolName, input }) => [toolName, input]);
}

describe('a call that the message spells out', () => {
  it.each([
    ['call calculator with {"expression":"2+2"}', 'calculator', '{"expression":"2+2"}'],
    ['Please call the calculator tool with the input {"expression": "2 + 2"}', 'calculator', '{"expression": "2 + 2"}'],
    ['use `calculator` with: {"expression":"1"} please', 'calculator', '{"expression":"1"}'],
    ['/calculator {"expression":"2+2"}', 'calculator', '{"expression":"2+2"}'],
    ['/current_time', 'current_time', '{}'],
    ['run get_weather {"city":"a } b \\" {"}', 'get_weather', '{"city":"a } b \\" {"}'],
  ])('is made as it stands: %s', async (message, toolName, input) => {
    expect(await sent(message)).toEqual([[toolName, input]]);
  });

  it.each([
    ['/get_weather {"city": ', '{"city": '],
    ['call get_weather with {city: Berlin}', '{city: Berlin}'],
    ['call get_weather with {"city":1,,}', '{"city":1,,}'],
    ['/get_weather []', '[]'],
    ['call get_weather with {"__proto__":{"a":1}}', '{"__proto__":{"a":1}}'],
  ])('keeps JSON that is wrong: %s', async (message, input) => {
    expect(await sent(message)).toEqual([['get_weather', input]]);
  });

  it('may name a tool that is not active', async () => {
    expect(await sent('call no_such_tool with {"a":1}', [clock])).toEqual([['no_such_tool', '{"a":1}']]);
  });

  it('stands among others, in their order', async () => {
    const message = 'call no_such with {"a":1} and calculator with {bad json}; then rest\n/get_weather {"city":"x"}';
    expect(await sent(message.replace('; then rest', ''))).toEqual([
      ['no_such', '{"a":1}'],
      ['calculator', '{bad json}'],
      ['get_weather', '{"city":"x"}'],
    ]);
  });

  it.each([
    'call calculator 3 times with {"expression":"1"}',
    'call calculator three times with {"expression":"1"}',
    'call calculator with {"expression":"1"} 3 times',
    '/calculator {"expression":"1"} x3',
  ])('is made as often as asked: %s', async (message) => {
    expect(await sent(message, [calculator])).toEqual(
      Array.from({ length: 3 }, () => ['calculator', '{"expression":"1"}']),
    );
  });

  it('is made at most a hundred times', async () => {
    expect(await sent('call calculator 999 times with {}', [calculator])).toHaveLength(100);
  });

  it('may span lines', async () => {
    expect(await sent('call get_weather with {\n  "city": "Berlin"\n}', [weather])).toEqual([
      ['get_weather', '{\n  "city": "Berlin"\n}'],
    ]);
  });

  it('is no call where no tools are active or the text only speaks of one', async () => {
    expect(await sent('call calculator with {}', [])).toEqual([]);
    expect(await sent('the path is in /tmp', [clock])).toEqual([]);
    expect(await sent('I wrote foo {"a":1} yesterday', [clock])).toEqual([]);
  });
});
