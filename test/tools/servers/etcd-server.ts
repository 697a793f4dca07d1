/** Nodes of etcd, from Debian's package: in a folder that goes with them, on ports of the loopback interface. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { freePorts } from './free-ports.ts';

/** The program; `undefined` where etcd is not installed. */
export const etcdProgram: string | undefined = process.env['ETCD'] ??
  (spawnSync('etcd', ['--version']).status === 0 ? 'etcd' : undefined);

/** What the storage asks etcd to be started with. */
export const roomForCommits = ['--max-txn-ops', '256', '--max-request-bytes', '8388608'];

export interface EtcdCluster {
  readonly endpoints: readonly string[];
  /** Sends a signal to a node: `SIGSTOP` makes it silent, `SIGCONT` brings it back. */
  signal(node: number, name: NodeJS.Signals): void;
  leader(): Promise<number>;
  /** Starts a node again that has ended, with its data. */
  start(node: number): void;
  /** Resolves when a node has ended. */
  ended(node: number): Promise<void>;
  /** Ends all nodes and removes their data. */
  stop(): Promise<void>;
}

/** Starts a cluster of so many nodes, and resolves when it answers. */
export async function startEtcd(nodes: number, settings: readonly string[] = roomForCommits): Promise<EtcdCluster> {
  if (etcdProgram === undefined) throw new Error('etcd is not installed: apt-get install etcd-server');
  const folder = mkdtempSync(join(tmpdir(), 'pinnace-etcd-'));
  const ports = await freePorts(2 * nodes);
  const at = (index: number): string => `http://127.0.0.1:${ports[index]}`;
  const endpoints = Array.from({ length: nodes }, (_, node) => at(node));
  const peers = endpoints.map((_, node) => `n${node}=${at(nodes + node)}`).join(',');
  const running: ChildProcess[] = [];
  const start = (node: number): void => {
    const [client, peer] = [at(node), at(nodes + node)];
    const own = ['--name', `n${node}`, '--data-dir', join(folder, `n${node}`), '--initial-cluster', peers];
    const clients = ['--listen-client-urls', client, '--advertise-client-urls', client];
    const others = ['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer];
    const pace = ['--heartbeat-interval', '100', '--election-timeout', '1000'];
    const server = spawn(etcdProgram ?? '', [...own, ...clients, ...others, ...pace, ...settings], { stdio: 'ignore' });
    const stopWithUs = (): void => void server.kill('SIGKILL');
    process.once('exit', stopWithUs);
    server.once('exit', () => process.off('exit', stopWithUs));
    running[node] = server;
  };
  const ended = async (node: number): Promise<void> => {
    const server = running[node];
    if (server && server.exitCode === null && server.signalCode === null) await once(server, 'exit');
  };
  for (let node = 0; node < nodes; node++) start(node);
  const cluster: EtcdCluster = {
    endpoints,
    signal: (node, name) => void running[node]?.kill(name),
    start,
    ended,
    async leader() {
      const states = await Promise.all(endpoints.map(statusOf));
      const leader = states.findIndex((state) => state !== undefined && state.leader === state.header?.member_id);
      if (leader < 0) throw new Error('no node leads');
      return leader;
    },
    async stop() {
      for (const server of running) server.kill('SIGKILL');
      await Promise.all(running.map((_, node) => ended(node)));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await untilItLeads(cluster);
  return cluster;
}

interface Status {
  readonly leader?: string;
  readonly header?: { readonly member_id?: string };
}

async function statusOf(endpoint: string): Promise<Status | undefined> {
  try {
    const init = { method: 'POST', body: '{}', signal: AbortSignal.timeout(1_000) };
    return await (await fetch(`${endpoint}/v3/maintenance/status`, init)).json() as Status; // as etcd writes it
  } catch {
    return undefined;
  }
}

async function untilItLeads(cluster: EtcdCluster): Promise<void> {
  for (;;) {
    try {
      return void await cluster.leader();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50)); // a node that starts says nothing of it
    }
  }
}
