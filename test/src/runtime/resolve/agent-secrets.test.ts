import { describe, expect, it } from 'vitest';
import { memorySecrets } from '../../../../adapters/secrets/memory.ts';
import { type AgentInput, defineTool, localPrincipal } from '../../../../src/index.ts';
import * as v from 'valibot';
import { callsTools, says, scriptedModel } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime } from '../../../fixtures/runtime.ts';

/** Runs an agent whose tool uses the secret `crm-key`, and gives what the tool was handed and the stream. */
async function runWith(secrets: AgentInput['secrets']) {
  const seen: string[][] = [];
  const sync = defineTool({
    id: 'sync',
    description: 'Syncs',
    input: v.object({}),
    secrets: [{ id: 'crm-key' }],
    execute: (_, context) => void seen.push(Object.keys(context.secrets)),
  });
  const { model } = scriptedModel(callsTools({ tool: 'sync', input: {} }), says('done'));
  const source = memorySecrets({ 'crm-key': { value: 'crm-SECRET-0123456789', origins: ['code'] } });
  const agent = secrets === undefined ? {} : { secrets };
  const runtime = testRuntime({ model, tools: [sync], secrets: source, agent });
  return { seen, chunks: await readAll(await runtime.run(runRequest(), localPrincipal())) };
}

describe('the secrets of an agent', () => {
  it('are the only ones that its tools may use; an empty list is none', async () => {
    for (const allowed of [[], [{ id: 'other' }], [{ id: 'crm-key', version: '7' }]]) {
      const { seen, chunks } = await runWith(allowed);
      expect(seen).toEqual([]);
      expect(lastData(chunks, 'data-tool-error')).toMatchObject({
        code: 'forbidden',
        details: { reason: 'secret_not_allowed', secret: 'crm-key', tool: 'sync', agent: 'helper' },
      });
    }
  });

  it('let a tool have those that are listed', async () => {
    expect((await runWith([{ id: 'other' }, { id: 'crm-key' }])).seen).toEqual([['crm-key']]);
  });

  it('are those of each tool where the agent has no list', async () => {
    expect((await runWith(undefined)).seen).toEqual([['crm-key']]);
  });
});
