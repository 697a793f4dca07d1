import { describe, expect, it } from 'vitest';
import { mcpConnectorContract, mcpSessionContract } from '../../contracts/index.ts';
import { connectors, egressTo } from '../../fixtures/mcp/mcp-peer.ts';

describe.each(connectors)('$name keeps the contract, with a server of the era $era', ({ make, era }) => {
  const checks = era === 'legacy' ? [...mcpConnectorContract, ...mcpSessionContract] : mcpConnectorContract;

  it.each(checks)('$name', async ({ run }) => {
    const open = async (handle: (request: Request) => Promise<Response>) => make({ egress: egressTo(handle) });
    await expect(run({ era, open })).resolves.toBeUndefined();
  });
});
