import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { hostedRegistry } from '../../../fixtures/page/registry-host.ts';
import { mount, type Page } from '../../../fixtures/page/playground.tsx';

let page: Page;
let host: ReturnType<typeof hostedRegistry>;

beforeEach(async () => {
  host = hostedRegistry();
  page = await mount({ registry: host.control });
  await page.click('open-agents');
  await page.find('registry-row');
});

afterEach(() => page.unmount());

const ids = () => page.all('registry-row').map((row) => row.dataset['id']);
const text = (testId: string) => page.all(testId)[0]?.textContent;

async function open(id: string): Promise<void> {
  await page.find('registry-row');
  page.all('registry-row').find((row) => row.dataset['id'] === id)?.click();
  await vi.waitFor(() => expect(page.all('registry-row')).toEqual([]));
}

async function edit(id: string): Promise<void> {
  await open(id);
  await page.click('record-edit');
  await page.find('record-form');
}

async function choose(testId: string, value: string): Promise<void> {
  const select = await page.find(testId) as HTMLSelectElement; // safe enough: what has no value fails the test
  select.value = value;
  select.dispatchEvent(new Event('change', { bubbles: true }));
}

describe('a shared record', () => {
  it('has a badge, and cannot be edited by a caller who may only read it', async () => {
    page.unmount();
    const { control } = host;
    page = await mount({
      registry: {
        ...control,
        async list(...query) {
          const answer = await control.list(...query);
          if (!answer.ok) return answer;
          const items = answer.value.items.map((record) => ({ ...record, readOnly: true }));
          return { ok: true, value: { ...answer.value, items } };
        },
        async get(...asked) {
          const answer = await control.get(...asked);
          if (!answer.ok) return answer;
          return { ok: true, value: { ...answer.value, record: { ...answer.value.record, readOnly: true } } };
        },
      },
    });
    await page.click('open-agents');
    const row = await page.find('registry-row');
    expect(row.querySelector('[data-badge=shared]')).not.toBeNull();
    await open('logbook');
    expect((await page.find('record-read-only')).textContent).toMatch('Shared by the deployment');
    for (const testId of ['record-edit', 'registry-switch', 'record-remove']) expect(page.all(testId)).toEqual([]);
  });
});

describe('the registry screen', () => {
  it('lists agents and tools, by text, tag, state and page', async () => {
    expect(ids()).toEqual([
      'almanac',
      'bosun',
      'commodore',
      'drill',
      'logbook',
      'navigator',
      'purser',
      'quartermaster',
    ]);
    await page.type('registry-text', 'notes');
    await vi.waitFor(() => expect(ids()).toEqual(['logbook']));
    await page.click('registry-tab-tool');
    await vi.waitFor(() => expect(ids().length).toBe(50));
    await page.click('registry-more');
    await vi.waitFor(() => expect(ids().length).toBe(100));
    await choose('registry-state', 'disabled');
    await vi.waitFor(() => expect(text('registry-count')).toBe('No results'));
  });

  it('shows of an agent its tools, and why the others are left out', async () => {
    await open('navigator');
    expect(text('agent-tools-count')).toBe('5 available in its next run');
    expect(page.all('excluded-tools').map(({ dataset }) => dataset['reason'])).toEqual(['not_allowed']);
    expect(text('record-history')).toContain('Created by the playground');
  });

  it('says while a person types what the registry would refuse, in the fields that were written in alone', async () => {
    await edit('drill');
    const field = await page.find('field-entryTools');
    field.focus();
    await page.type('field-entryTools', 'calculator\ncalculater');
    await vi.waitFor(() => expect(text('help-entryTools')).toContain('“calculater” is no tool that is known here'));
    expect(document.activeElement).toBe(field);
    await page.type('field-entryTools', 'calculator');
    await vi.waitFor(() => expect(page.all('field-entryTools')[0]?.getAttribute('aria-invalid')).toBe('false'));
    await page.click('record-discard');
    expect(await host.catalog.agent('drill')).toMatchObject({ revision: 1 });
  });

  it('says beside each field what is wrong with it, and gives the first the focus', async () => {
    await edit('drill');
    await page.type('field-name', '');
    await page.type('field-entryTools', 'calculator\ncalculater');
    await page.type('field-limits.steps', 'many');
    await page.click('record-save');
    await vi.waitFor(() => expect(text('help-name')).toContain('at least 1'));
    const field = await page.find('field-name');
    expect(field.getAttribute('aria-invalid')).toBe('true');
    expect(field.getAttribute('aria-describedby')).toBe(page.all('help-name')[0]?.id);
    await vi.waitFor(() => expect(document.activeElement).toBe(field));
    expect(text('help-limits.steps')).toBe('Steps must be a number.');
    await page.type('field-name', 'Drill');
    expect(page.all('help-name')).toEqual([]);
    await page.type('field-limits.steps', '12');
    await page.click('record-save');
    await vi.waitFor(() =>
      expect(text('help-entryTools')).toBe('“calculater” is no tool that is known here: register it first.')
    );
    await page.type('field-entryTools', 'calculator');
    await page.click('record-save');
    await page.find('record-page');
    expect(await host.catalog.agent('drill')).toMatchObject({ entryTools: ['calculator'], limits: { steps: 12 } });
    expect(text('record-history')).toContain('Changed by you');
  });

  it('shows what was changed elsewhere, and continues with the own changes or without', async () => {
    await edit('drill');
    await page.type('field-instructions', 'Mine');
    const seen = await host.catalog.agent('drill');
    if (!seen) throw new Error('There is no drill');
    const theirs = { ...seen, role: 'theirs' };
    await host.control.replace('agent', theirs, seen.revision);
    await page.click('record-save');
    expect((await page.find('record-conflict')).textContent).toContain('Role is different now.');
    await page.click('conflict-keep');
    await page.click('record-save');
    await page.find('record-page');
    expect(await host.catalog.agent('drill')).toMatchObject({ role: 'theirs', instructions: 'Mine' });
  });

  it('keeps what was written when Escape is pressed, and goes back when there is nothing to lose', async () => {
    await edit('drill');
    await page.type('field-role', 'other');
    page.press('Escape');
    expect(page.all('record-form').length).toBe(1);
    expect(page.playground.announcement.value).toContain('You have unsaved changes');
    expect(document.activeElement).toBe(page.all('record-discard')[0]);
    await page.click('record-discard');
    await page.find('record-page');
    page.press('Escape');
    await page.find('registry-row');
    page.press('Escape');
    await vi.waitFor(() => expect(page.all('agents')).toEqual([]));
    expect((await host.catalog.agent('drill'))?.role).toBe('Drill');
  });

  it('disables and enables an agent', async () => {
    await open('drill');
    await page.click('registry-switch');
    await vi.waitFor(() => expect(text('registry-switch')).toBe('Enable'));
    expect((await host.catalog.agent('drill'))?.state).toBe('disabled');
    expect(page.playground.announcement.value).toBe('Failures is disabled');
    await page.click('registry-switch');
    await vi.waitFor(() => expect(text('registry-switch')).toBe('Disable'));
  });

  it('shows the parameters of a tool, and switches it off', async () => {
    await page.click('registry-tab-tool');
    await page.type('registry-text', 'convert_units');
    await vi.waitFor(() => expect(ids()).toEqual(['convert_units']));
    await open('convert_units');
    expect(text('tool-params')).toContain('from');
    await page.click('registry-switch');
    await vi.waitFor(() => expect(text('registry-switch')).toBe('Enable'));
    await page.click('agents-back');
    await choose('registry-state', 'disabled');
    await vi.waitFor(() => expect(ids()).toEqual(['convert_units']));
  });

  it('is reached from the palette, and left for a new chat', async () => {
    await page.click('agents-back');
    await vi.waitFor(() => expect(page.all('agents')).toEqual([]));
    page.press('k', { ctrlKey: true });
    await page.type('switcher-query', 'agents');
    await vi.waitFor(() => expect(page.all('destination')[0]?.textContent).toContain('Agents'));
    await page.click('destination');
    await page.find('agents');
    await page.click('new-chat');
    await vi.waitFor(() => expect(page.all('agents')).toEqual([]));
  });
});
