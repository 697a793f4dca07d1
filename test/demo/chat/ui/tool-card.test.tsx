import { render } from 'preact';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createToolPart, type ToolCall, type ToolPart } from '../../../../demo/chat/state/message.ts';
import { ToolCard } from '../../../../demo/chat/ui/tool-card.tsx';

let root: HTMLElement;

beforeEach(() => {
  root = document.body.appendChild(document.createElement('div'));
});

afterEach(() => {
  render(null, root);
  root.remove();
  vi.useRealTimers();
});

function show(
  call: Partial<ToolCall>,
  rest: { inputText?: string; logs?: { level: string; text: string }[] } = {},
): ToolPart {
  const part = createToolPart('call-1', {
    name: 'add',
    title: 'Add',
    dynamic: true,
    state: 'running',
    startedAt: 0,
    ...call,
  }, rest);
  render(<ToolCard part={part} />, root);
  return part;
}

function card(): HTMLElement {
  return root.querySelector<HTMLElement>('[data-testid="tool-card"]')!; // safe: a miss fails the test
}

async function open(): Promise<void> {
  root.querySelector<HTMLElement>('.tool-head')?.click();
  await vi.waitFor(() => expect(root.querySelector('.tool-body')).not.toBeNull());
}

describe('ToolCard', () => {
  it.each<[ToolCall['state'], string]>([
    ['starting', 'Starting'],
    ['input', 'Preparing input'],
    ['running', 'Running'],
    ['waiting', 'Waiting for you'],
    ['result', 'Done'],
    ['error', 'Failed'],
    ['denied', 'Denied'],
    ['undecided', 'Not decided'],
    ['stopped', 'Stopped'],
  ])('says that a call is %s', (state, word) => {
    show({ state });
    expect(card().dataset).toMatchObject({ tool: 'add', state });
    expect(card().textContent).toContain(word);
    expect(card().getAttribute('aria-label')).toBe(`Tool Add: ${word}`);
  });

  it('counts the time while the tool runs', async () => {
    vi.useFakeTimers({ now: 10_000 });
    show({ startedAt: 9_000 });
    const shown = () => Number.parseFloat(card().querySelector('time')?.textContent ?? '');
    expect(shown()).toBe(1);
    await vi.advanceTimersByTimeAsync(2_150);
    await vi.waitFor(() => expect(shown()).toBeGreaterThanOrEqual(3.1)); // it may be drawn a moment later
  });

  it('shows a summary of the input, and all of it with the output when opened', async () => {
    show({ state: 'result', input: { a: 1, text: 'two\nlines' }, output: { sum: [3] } });
    expect(card().querySelector('.tool-summary')?.textContent).toBe('a: 1, text: two lines');
    expect(card().querySelector('.tool-body')).toBeNull();
    await open();
    expect(card().querySelector('.tool-head')?.getAttribute('aria-expanded')).toBe('true');
    const [input, output] = [...card().querySelectorAll('pre')].map(({ textContent }) => textContent);
    expect(input).toBe('{\n  "a": 1,\n  "text": "two\\nlines"\n}');
    expect(output).toBe('{\n  "sum": [\n    3\n  ]\n}');
  });

  it('shows the input while it is written', async () => {
    show({ state: 'input' }, { inputText: '{"a":' });
    await open();
    expect(card().querySelector('pre')?.textContent).toBe('{"a":');
  });

  it('shows why a call failed without being opened, and whether it may work later', () => {
    const failure = {
      toolCallId: 'call-1',
      tool: 'add',
      code: 'rate_limited',
      message: 'Slow down',
      retryable: true,
      attempt: 2,
      traceId: undefined,
    };
    show({ state: 'error', failure });
    const problem = card().querySelector('.tool-problem')?.textContent;
    expect(problem).toContain('Slow down');
    expect(problem).not.toContain('rate_limited');
    expect(problem).toContain('may work later');
  });

  it('shows a failure without a code by its text', () => {
    show({ state: 'error', errorText: 'It broke' });
    expect(card().querySelector('.tool-problem')?.textContent).toContain('It broke');
  });

  it('shows its log', async () => {
    show({}, { logs: [{ level: 'warn', text: 'careful' }] });
    await open();
    expect(card().querySelector('.tool-log li')?.getAttribute('data-level')).toBe('warn');
  });

  it('shows the beginning of a large output, and all of it on demand', async () => {
    show({ state: 'result', input: {}, output: 'x'.repeat(50_000) });
    await open();
    const output = (): string => card().querySelectorAll('pre')[1]?.textContent ?? '';
    expect(output()).toHaveLength(12_000);
    [...card().querySelectorAll('button')].find(({ textContent }) => textContent?.startsWith('Show all'))?.click();
    await vi.waitFor(() => expect(output()).toHaveLength(50_000));
  });

  it('shows HTML in a value as text', async () => {
    show({ state: 'result', input: { html: '<img src=x>' }, output: '<script>1</script>' });
    await open();
    expect(card().querySelector('img, script')).toBeNull();
  });
});
