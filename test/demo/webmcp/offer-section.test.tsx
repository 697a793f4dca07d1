import { render } from 'preact';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import * as v from 'valibot';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { rehearsal } from '../../../adapters/models/rehearsal.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { OfferSection } from '../../../demo/webmcp/ui/offer-section.tsx';
import { lazyWebmcp } from '../../../demo/webmcp/worker/lazy-webmcp.ts';
import { createRuntime, defineTool } from '../../../src/index.ts';
import { mount, type Page } from '../../fixtures/page/playground.tsx';
import { FakeModelContext } from '../../fixtures/webmcp/fake-model-context.ts';

const deleted: string[] = [];
const wipe = defineTool({
  id: 'wipe',
  description: 'Deletes a chart',
  input: v.object({ chart: v.string() }),
  annotations: { destructiveHint: true },
  approval: 'always',
  execute({ chart }) {
    deleted.push(chart);
    return 'done';
  },
});

const all = (
  testId: string,
): readonly HTMLElement[] => [...document.querySelectorAll<HTMLElement>(`[data-testid=${testId}]`)];

/** The first element with this test id, anywhere in the document: dialogs are no part of the page's root. */
async function find(testId: string): Promise<HTMLElement> {
  return await vi.waitFor(() => {
    const [element] = all(testId);
    if (!element) throw new Error(`There is no "${testId}"`);
    return element;
  }, { timeout: 5000 });
}

/** A page with the section, in a browser that has WebMCP, and a worker's runtime with one agent that exists. */
async function opened(): Promise<Page & { readonly context: FakeModelContext }> {
  const context = new FakeModelContext();
  Reflect.set(document, 'modelContext', context);
  const runtime = createRuntime({
    catalog: staticCatalog({
      agents: [{ id: 'navigator', providerId: 'p', name: 'Navigator', instructions: '', entryTools: ['wipe'] }],
      providers: [{ id: 'p', kind: 'rehearsal', model: 'm' }],
    }),
    models: { model: () => rehearsal() },
    storage: memoryStorage(),
    tools: [wipe],
  });
  const { connectPage, offer } = lazyWebmcp({ runtime: () => runtime });
  const page = await mount({
    webmcp: { connectPage: async (port) => connectPage(port), offerAgent: (agentId, port) => offer(agentId, port) },
  });
  const root = document.body.appendChild(document.createElement('div'));
  render(<OfferSection playground={page.playground} />, root);
  onTestFinished(async () => {
    await choose('');
    render(null, root);
    root.remove();
    page.unmount();
    Reflect.deleteProperty(document, 'modelContext');
  });
  return { ...page, context };
}

async function choose(agentId: string): Promise<void> {
  const select = await find('webmcp-agent') as HTMLSelectElement;
  select.value = agentId;
  select.dispatchEvent(new Event('change', { bubbles: true }));
}

async function namesOf(context: FakeModelContext): Promise<readonly string[]> {
  return (await context.getTools()).map(({ name }) => name);
}

async function call(context: FakeModelContext, signal = new AbortController().signal): Promise<unknown> {
  const [tool] = await context.getTools();
  if (!tool) throw new Error('The page offers nothing');
  return await context.executeTool(tool, '{"chart":"North"}', { signal });
}

beforeEach(() => void (deleted.length = 0));

describe('the tools of an agent, offered to the browser', () => {
  it('are registered anew after a change of the agents', async () => {
    const { context, playground } = await opened();
    await choose('navigator');
    await vi.waitFor(async () => expect(await namesOf(context)).toEqual(['wipe']));
    const registered: string[] = [];
    context.addEventListener('toolchange', () => void namesOf(context).then((names) => registered.push(names.join())));
    await playground.refreshAgents();
    await vi.waitFor(() => expect(registered).toEqual(['', 'wipe']));
  });

  it.each([['webmcp-approve', ['North']], ['webmcp-deny', []]])('ask in a dialog: %s', async (button, expected) => {
    const { context } = await opened();
    await choose('navigator');
    await vi.waitFor(async () => expect(await namesOf(context)).toEqual(['wipe']));
    const answer = call(context);
    expect((await find('webmcp-text')).textContent).toContain('North');
    expect(deleted).toEqual([]);
    (await find(button)).click();
    await answer;
    expect(deleted).toEqual(expected);
    expect(all('webmcp-question')).toEqual([]);
  });

  it('close the dialog when the browser gives up the call', async () => {
    const { context } = await opened();
    await choose('navigator');
    await vi.waitFor(async () => expect(await namesOf(context)).toEqual(['wipe']));
    const abort = new AbortController();
    const answer = call(context, abort.signal).catch(() => undefined);
    await find('webmcp-question');
    abort.abort();
    await answer;
    await vi.waitFor(() => expect(all('webmcp-question')).toEqual([]));
    expect(deleted).toEqual([]);
  });

  it('are withdrawn with a reason where the agent cannot be opened', async () => {
    const { context } = await opened();
    await choose('mate');
    await vi.waitFor(() => expect(document.querySelector('[role=alert]')?.textContent).toContain('withdrawn'));
    expect(await namesOf(context)).toEqual([]);
    expect((await find('webmcp-agent') as HTMLSelectElement).value).toBe('');
  });
});
