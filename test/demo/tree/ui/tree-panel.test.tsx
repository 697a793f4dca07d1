import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createTreeHost, type TreeHost } from '../../../../demo/tree/worker/host.ts';
import { mount, type Page } from '../../../fixtures/page/playground.tsx';

const size = { yards: 1, jobs: 2, packages: 2, tasks: 3 };
const largeSize = { yards: 3, jobs: 2, packages: 2, tasks: 3 };
let page: Page;
let tree: TreeHost;

beforeEach(async () => {
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(600); // nothing is laid out here
  tree = createTreeHost({ storage: memoryStorage(), size, largeSize });
  page = await mount({ tree });
  page.press('t', { altKey: true, code: 'KeyT' });
  await page.find('tree-row');
});

afterEach(() => {
  page.unmount();
  vi.restoreAllMocks();
});

const row = (nodeId: string) => page.all('tree-row').find((element) => element.dataset['node'] === nodeId);
const names = () => page.all('tree-row').map((element) => element.querySelector('.tree-name')?.textContent);
const activeLabel = () => {
  const list = page.all('tree-list')[0];
  return document.getElementById(list?.getAttribute('aria-activedescendant') ?? '')?.getAttribute('aria-label');
};

/** Presses a key, and waits for what is to come of it. */
async function press(key: string, check: () => void, init: KeyboardEventInit = {}): Promise<void> {
  page.press(key, init);
  await vi.waitFor(check);
}

async function focus(nodeId: string): Promise<void> {
  (await page.find('tree-list')).focus();
  row(nodeId)?.dispatchEvent(new MouseEvent('mousedown', { bubbles: true }));
  await vi.waitFor(() => expect(row(nodeId)?.getAttribute('aria-selected')).toBe('true'));
}

/** Changes something as an agent does. */
async function agent(tool: string, input: object): Promise<void> {
  const { status } = await tree.control.rows({ offset: 0, limit: 1 });
  expect(await tree.call('mate', { tool, input: { ...input, versionToken: status.version } })).toMatchObject({
    ok: true,
  });
}

describe('the tree panel', () => {
  it('says of each row what a screen reader needs, the list having the focus', async () => {
    expect(page.all('tree-list')[0]?.getAttribute('role')).toBe('tree');
    expect(page.all('tree-status')[0]?.textContent).toBe('229 nodes');
    const root = row('yard');
    expect(root?.getAttribute('role')).toBe('treeitem');
    expect(['aria-level', 'aria-posinset', 'aria-setsize', 'aria-expanded'].map((name) => root?.getAttribute(name)))
      .toEqual(['1', '1', '1', 'true']);
    const second = page.all('tree-row')[2];
    expect(['aria-level', 'aria-posinset', 'aria-setsize', 'aria-expanded'].map((name) => second?.getAttribute(name)))
      .toEqual(['2', '2', '12', 'false']);
    await focus('yard');
    expect(activeLabel()).toContain('Northquay Yard');
  });

  it('is walked by the keys of the tree pattern', async () => {
    await focus('yard');
    await press('ArrowDown', () => expect(activeLabel()).toContain('Hull and structure'));
    await press('ArrowRight', () => expect(row('n2')).toBeDefined());
    expect(activeLabel()).toContain('Hull and structure');
    await press('ArrowRight', () => expect(row('n2')?.getAttribute('aria-selected')).toBe('true'));
    await press('ArrowLeft', () => expect(activeLabel()).toContain('Hull and structure'));
    await press('ArrowLeft', () => expect(row('n2')).toBeUndefined());
    await press('End', () => expect(activeLabel()).toContain('Customers'));
    await press('Home', () => expect(activeLabel()).toContain('Northquay Yard'));
    await press('p', () => expect(activeLabel()).toContain('Propulsion'));
    await press('a', () => expect(activeLabel()).toContain('Paint and finish'));
    await press('Enter', () => expect(names().length).toBeGreaterThan(13));
    await press(' ', () => expect(names()).toHaveLength(13));
  });

  it('renames, adds, ticks off and removes by hand, and takes it back', async () => {
    await focus('yard');
    await press('ArrowDown', () => expect(activeLabel()).toContain('Hull and structure'));
    await press('F2', () => expect(page.all('tree-field')).toHaveLength(1));
    await page.type('tree-field', 'Hulls');
    await press('Enter', () => expect(names()).toContain('Hulls'));
    expect(document.activeElement?.className).toBe('tree-list');
    await press('Insert', () => expect(page.all('tree-field')).toHaveLength(1));
    await page.type('tree-field', 'Launch of Heron');
    await press('Enter', () => expect(names()).toContain('Launch of Heron'));
    expect(row('n1')?.getAttribute('aria-expanded')).toBe('true');
    await press('Delete', () => expect(names()).not.toContain('Launch of Heron'));
    expect(page.all('tree-status')[0]?.textContent).toBe('229 nodes · 4 changes');
    for (const count of ['230 nodes', '230 nodes', '229 nodes']) {
      await page.click('tree-undo');
      await vi.waitFor(() => expect(page.all('tree-status')[0]?.textContent).toContain(count));
    }
    await page.click('tree-undo');
    await vi.waitFor(() => expect(names()).toContain('Hull and structure'));
    await vi.waitFor(() => expect(page.all('tree-undo')[0]).toHaveProperty('disabled', true));
  });

  it('leaves the name as it was on Escape', async () => {
    await focus('n1');
    await page.click('tree-rename');
    await page.type('tree-field', 'Nonsense');
    (await page.find('tree-field')).focus();
    await press('Escape', () => expect(page.all('tree-field')).toHaveLength(0));
    expect(names()).toContain('Hull and structure');
    expect(page.all('tree-status')[0]?.textContent).not.toContain('change');
  });

  it('moves rows among their siblings, and elsewhere by cut and paste', async () => {
    await focus('n1');
    await press('ArrowDown', () => expect(names()[1]).toBe('Rigging and sails'), { altKey: true });
    await press('ArrowUp', () => expect(names()[1]).toBe('Hull and structure'), { altKey: true });
    await press('x', () => expect(row('n1')?.dataset['cut']).toBe('true'), { ctrlKey: true });
    await press('Escape', () => expect(row('n1')?.dataset['cut']).toBe('false'));
    await press('x', () => expect(row('n1')?.dataset['cut']).toBe('true'), { ctrlKey: true });
    await press('End', () => expect(activeLabel()).toContain('Customers'));
    await press('v', () => expect(row('n1')?.getAttribute('aria-level')).toBe('3'), { ctrlKey: true });
    await press('z', () => expect(row('n1')?.getAttribute('aria-level')).toBe('2'), { ctrlKey: true });
  });

  it('moves what is dragged to where it is dropped', async () => {
    row('n1')?.dispatchEvent(new Event('dragstart', { bubbles: true }));
    const target = page.all('tree-row')[3];
    target?.dispatchEvent(new Event('dragover', { bubbles: true, cancelable: true }));
    await vi.waitFor(() => expect(page.all('tree-row')[3]?.dataset['drop']).toBeDefined());
    page.all('tree-row')[3]?.dispatchEvent(new Event('drop', { bubbles: true, cancelable: true }));
    await vi.waitFor(() => expect(page.all('tree-latest')[0]?.textContent).toContain('Moved “Hull and structure”'));
  });

  it('shows what an agent does, where it does it, and who it was', async () => {
    await agent('update_payload_property', { nodeId: 'n5', propertyName: 'name', newValue: 'Splice the main brace' });
    await vi.waitFor(() => expect(row('n5')?.dataset['mark']).toBe('other'));
    expect(row('n5')?.textContent).toContain('Mate');
    expect(row('n5')?.getAttribute('aria-label')).toContain('Mate changed it');
    expect(page.all('announcement')[0]?.textContent).toContain('Mate: Changed “Splice the main brace”');
    await vi.waitFor(() => expect(activeLabel()).toContain('Splice the main brace'));
    await page.click('tree-undo');
    await vi.waitFor(() => expect(row('n5')?.textContent).not.toContain('Splice'));
  });

  it('says why when an agent has changed the name that is being written', async () => {
    await focus('n1');
    await press('F2', () => expect(page.all('tree-field')).toHaveLength(1));
    await agent('update_payload_property', { nodeId: 'n1', propertyName: 'name', newValue: 'Keels' });
    await page.type('tree-field', 'Hulls');
    await press('Enter', () => expect(page.all('tree-problem')[0]?.textContent).toContain('has changed since'));
    await vi.waitFor(() => expect(names()).toContain('Keels'));
  });

  it('finds nodes and goes to them by the keyboard', async () => {
    await page.type('tree-search', 'rudder');
    await vi.waitFor(() => expect(page.all('tree-found').length).toBeGreaterThan(1));
    const found = page.all('tree-found')[1]?.querySelector('span')?.textContent;
    (await page.find('tree-search')).focus();
    page.press('ArrowDown');
    await vi.waitFor(() => expect(page.all('tree-found')[1]?.getAttribute('aria-selected')).toBe('true'));
    await press('Enter', () => expect(activeLabel()).toContain(found));
    expect(page.all('tree-found')).toHaveLength(0);
  });

  it('says when nothing is called so', async () => {
    await page.type('tree-search', 'no such thing');
    await vi.waitFor(() => expect(page.all('tree-panel')[0]?.textContent).toContain('0 results in 229 nodes'));
  });

  it('makes a million nodes, and goes back', async () => {
    await page.click('tree-million');
    await vi.waitFor(() => expect(names()[0]).toBe('The Northquay Group'));
    expect(page.all('tree-million')[0]?.textContent).toBe('Back to the yard');
    await page.click('tree-million');
    await vi.waitFor(() => expect(names()[0]).toBe('Northquay Yard'));
  });
});
