import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { sampleAgents, sampleDataSources, sampleProviders } from '../../../../demo/samples/agents.ts';
import type { RegistryControl } from '../../../../demo/control/registry-control.ts';
import type { Answer } from '../../../../demo/control/answer.ts';
import { Agent } from '../../../../src/registry/index.ts';
import { createAudit, localPrincipal, PinnaceError, type Storage, type UIMessageChunk } from '../../../../src/index.ts';
import { hostedRegistry } from '../../../fixtures/page/registry-host.ts';
import { readAll, runRequest, textOf, userMessage } from '../../../fixtures/runtime.ts';

const request = (agentId: string, text: string) =>
  runRequest({ agentId, chat: { id: 'chat-1', messages: [userMessage(text)] } });

async function say(host: ReturnType<typeof hostedRegistry>, agentId: string, text: string): Promise<UIMessageChunk[]> {
  return await readAll(await host.runtime.run(request(agentId, text), localPrincipal()));
}

function valueOf<T>(answer: Answer<T>): T {
  if (!answer.ok) throw new Error(answer.error.message);
  return answer.value;
}

async function agentOf(control: RegistryControl, agentId: string): Promise<Agent> {
  return v.parse(Agent, valueOf(await control.get('agent', agentId)).record);
}

/** Writes what a person has changed. */
async function change(control: RegistryControl, agent: Agent, fields: Partial<Agent>): Promise<Answer<unknown>> {
  return await control.replace('agent', { ...agent, ...fields }, agent.revision);
}

async function reasonFor(control: RegistryControl, agentId: string, toolId: string): Promise<string | undefined> {
  return valueOf(await control.get('agent', agentId)).tools?.find(({ id }) => id === toolId)?.excluded;
}

describe('a full disk', () => {
  it('runs the samples where there was no room at first', async () => {
    const full = new PinnaceError('unavailable', 'No room', { details: { reason: 'storage_full' } });
    const storage: Storage = { ...memoryStorage(), commit: () => Promise.reject(full) };
    const { catalog } = hostedRegistry({ storage });
    expect(await catalog.agent('navigator')).toMatchObject({ id: 'navigator' });
    await expect(catalog.agent('nobody')).resolves.toBeUndefined();
  });
});

describe('createRegistryHost', () => {
  it('writes into the audit what a person changes, but not the samples', async () => {
    const audit = createAudit({ storage: memoryStorage() });
    const { control } = hostedRegistry({ observability: { audit } });
    valueOf(await change(control, await agentOf(control, 'drill'), { name: 'Mine' }));
    const entries = (await audit.log('local').list()).items.map(({ event }) => event);
    expect(entries.map(({ action, status }) => `${action} ${status}`)).toEqual([
      'registry.update pending',
      'registry.update ok',
    ]);
    expect(entries[0]).toMatchObject({ target: { type: 'agent', id: 'drill' } });
  });

  it('takes a newer sample, but not over what a person has changed', async () => {
    const { control, storage } = hostedRegistry();
    valueOf(await change(control, await agentOf(control, 'drill'), { role: 'mine' }));
    await control.get('agent', 'navigator');
    const newer = sampleAgents.map((agent) => ({ ...agent, version: '0.10.0', description: 'Newer' }));
    const later = hostedRegistry({
      storage,
      samples: { agents: newer, providers: sampleProviders, dataSources: sampleDataSources },
    });
    expect(await agentOf(later.control, 'navigator')).toMatchObject({ description: 'Newer' });
    expect((await agentOf(later.control, 'drill')).description).not.toBe('Newer');
    const older = hostedRegistry({ storage });
    expect(await agentOf(older.control, 'navigator')).toMatchObject({ description: 'Newer' });
  });

  it('refuses runs of a disabled agent until it is enabled', async () => {
    const host = hostedRegistry();
    await say(host, 'navigator', 'What is 6 * 7?');
    valueOf(await host.control.setState('agent', 'navigator', 'disabled'));
    expect(valueOf(await host.control.get('agent', 'navigator')).tools).toBeUndefined();
    await expect(host.runtime.run(request('navigator', 'What is 6 * 7?'), localPrincipal())).rejects
      .toMatchObject({ code: 'forbidden', message: 'Cannot run agent "navigator": it is disabled' });
    valueOf(await host.control.setState('agent', 'navigator', 'active'));
    expect(textOf(await say(host, 'navigator', 'What is 6 * 7?'))).toContain('42');
  });

  it('stops the run under way of an agent that is disabled', async () => {
    const host = hostedRegistry({ delayMs: 50 });
    const stream = await host.runtime.run(request('drill', 'Write a long answer about tides'), localPrincipal());
    const reader = stream.getReader();
    await reader.read();
    valueOf(await host.control.setState('agent', 'drill', 'disabled'));
    const chunks: unknown[] = [];
    for (let next = await reader.read(); !next.done; next = await reader.read()) chunks.push(next.value);
    expect(chunks.filter((chunk) => JSON.stringify(chunk).includes('agent_disabled')).length).toBeGreaterThan(0);
    expect(chunks.length).toBeLessThan(100); // the whole answer has some hundreds
  });

  it('takes a disabled tool from every agent, for other visits too, and gives it back', async () => {
    const host = hostedRegistry();
    const other = hostedRegistry({ storage: host.storage });
    expect(await reasonFor(other.control, 'navigator', 'calculator')).toBeUndefined();
    valueOf(await host.control.setState('tool', 'calculator', 'disabled'));
    expect(await reasonFor(host.control, 'navigator', 'calculator')).toBe('disabled');
    expect(await reasonFor(other.control, 'navigator', 'calculator')).toBe('disabled');
    expect(valueOf(await other.control.list('tool', { state: 'disabled' })).items.map(({ id }) => id)).toEqual([
      'calculator',
    ]);
    expect(valueOf(await host.control.get('tool', 'calculator')).record.state).toBe('disabled');
    valueOf(await host.control.setState('tool', 'calculator', 'active'));
    expect(await reasonFor(host.control, 'navigator', 'calculator')).toBeUndefined();
    expect(await host.control.setState('tool', 'nothing', 'disabled')).toMatchObject({
      ok: false,
      error: { code: 'not_found' },
    });
  });

  it('does not bring back what a person has removed', async () => {
    const { control, storage } = hostedRegistry();
    valueOf(await control.replace('agent', { ...await agentOf(control, 'drill'), entryTools: [] } as Agent, 1));
    valueOf(await control.remove('agent', 'drill'));
    const later = hostedRegistry({ storage });
    expect(await later.catalog.agent('drill')).toBeUndefined();
    expect((await later.registered())?.agents.map(({ id }) => id)).not.toContain('drill');
    expect(valueOf(await later.control.history('agent', 'drill')).items[0]).toMatchObject({ action: 'remove' });
  });

  it('resolves secrets from the vault once it is open, and asks anew when they change', async () => {
    const host = hostedRegistry();
    const origin = 'https://lab.example.com';
    const scope = { tenant: 'local', agentId: 'drill', origin };
    const resolve = () => host.secrets.resolve({ id: 'key' }, { scope, signal: new AbortController().signal });
    expect(valueOf(await host.control.vault())).toEqual({ isOpen: false, secrets: [] });
    expect(await host.control.setSecret('key', 'long enough', [origin])).toMatchObject({ ok: false });
    await expect(resolve()).rejects.toMatchObject({ code: 'unavailable' });
    valueOf(await host.control.unlockVault('correct horse'));
    valueOf(await host.control.setSecret('key', 'long enough', []));
    expect(valueOf(await host.control.vault())).toEqual({ isOpen: true, secrets: [{ id: 'key', origins: [] }] });
    await expect(resolve()).rejects.toMatchObject({ details: { reason: 'secret_origin_mismatch' } });
    valueOf(await host.control.bindSecret('key', [origin]));
    expect((await resolve()).reveal()).toBe('long enough');
    valueOf(await host.control.lockVault());
    await expect(resolve()).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('gives the samples as they are where the browser gives no storage', async () => {
    const broken = () => Promise.reject(new PinnaceError('unavailable', 'No storage'));
    const storage: Storage = { ...memoryStorage(), get: broken, list: broken, commit: broken };
    const { catalog, control, registered } = hostedRegistry({ storage });
    expect(await catalog.agent('drill')).toMatchObject({ name: 'Failures' });
    expect(await catalog.provider('default')).toMatchObject({ kind: 'rehearsal' });
    expect(await control.list('agent', {})).toMatchObject({ ok: false, error: { code: 'unavailable' } });
    expect(await registered()).toBeUndefined();
  });
});
