import { expose } from 'comlink';
import { describe, expect, it, vi } from 'vitest';
import type { AgentCard, Control } from '../../../../demo/control/page-control.ts';
import type { EvalsControl } from '../../../../demo/control/evals-control.ts';
import { connect } from '../../../../demo/app/state/connect.ts';
import { fakeTransport } from '../../../fixtures/page/fake-transport.ts';

const card: AgentCard = { id: 'mate', name: 'Mate', description: '', tools: [], suggestions: [] };

/** A worker as the page sees it: one end of a channel. */
function worker(exposed: Control): Worker {
  const { port1, port2 } = new MessageChannel();
  expose(exposed, port2);
  port1.start();
  return port1 as unknown as Worker; // safe: connect uses it for messages and events alone
}

/** A worker that never answers. */
function deadWorker(): Worker {
  // Safe: as above.
  return Object.assign(new EventTarget(), { postMessage: () => undefined }) as unknown as Worker;
}

function control(agents: readonly AgentCard[]): Control {
  const nothing = () => undefined;
  return {
    agents: async () => agents,
    useModel: () => false,
    askServer: () => Promise.resolve({ ok: true, models: [] }),
    useEndpoint: nothing,
    connectedEndpoint: nothing,
    useBrowserModel: nothing,
    steerPlan: async () => undefined,
    open: nothing,
    close: nothing,
    openCells: nothing,
    openPageTools: nothing,
    offerAgentTools: async () => undefined,
    openTree: nothing,
    openRegistry: nothing,
    openKnowledge: nothing,
    openInspector: nothing,
    openEvals: () => undefined,
  };
}

const connectRuntime = () => fakeTransport();

describe('connect', () => {
  it('gives the agents, the control and a transport', async () => {
    const connection = await connect(worker(control([card])), { connectRuntime });
    expect(connection.agents).toEqual([card]);
    expect(connection.transport).toHaveProperty('sendMessages');
    await connection.control.useEndpoint(undefined);
  });

  it('opens each further interface once and holds it, so that no open call is lost', async () => {
    const ports: MessagePort[] = [];
    const openEvals = (port: MessagePort): void => void ports.push(port);
    const { connectEvals } = await connect(worker({ ...control([card]), openEvals }), { connectRuntime });
    expect(connectEvals()).toBe(connectEvals());
    await vi.waitUntil(() => ports.length > 0);
    const list = vi.fn<EvalsControl['list']>(async () => ({ ok: true, value: { cases: [], reports: [] } }));
    expose({ list }, ports[0]);
    await connectEvals().list();
    expect(ports).toHaveLength(1);
    expect(list).toHaveBeenCalledTimes(1);
  });

  it('rejects when the script cannot be loaded', async () => {
    const dead = deadWorker();
    const connecting = connect(dead, { connectRuntime });
    dead.dispatchEvent(new Event('error'));
    await expect(connecting).rejects.toThrow('Its script could not be loaded');
  });

  it('rejects when the script fails, with its words', async () => {
    const dead = deadWorker();
    const connecting = connect(dead, { connectRuntime });
    dead.dispatchEvent(Object.assign(new Event('error'), { message: 'x is not defined' }));
    await expect(connecting).rejects.toThrow('x is not defined');
  });

  it('rejects when nothing comes in time', async () => {
    await expect(connect(deadWorker(), { connectRuntime, timeoutMs: 5 })).rejects.toThrow('did not answer in time');
  });

  it('rejects when there are no agents', async () => {
    await expect(connect(worker(control([])), { connectRuntime })).rejects.toThrow('has no agents');
  });
});
