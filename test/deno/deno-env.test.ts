import { describe, expect, it } from 'vitest';
import { denoEnvSecrets } from '../../adapters/secrets/deno-env.ts';

const scope = { tenant: 'acme', agentId: 'helper' };
const { signal } = new AbortController();

/** What a process with these permissions says of the secret `probe-x`. */
async function probe(...permissions: string[]): Promise<string> {
  const adapter = new URL('../../adapters/secrets/deno-env.ts', import.meta.url);
  const script = `
    import { denoEnvSecrets } from ${JSON.stringify(adapter.href)};
    const asked = { scope: { tenant: 'acme', agentId: 'helper' }, signal: new AbortController().signal };
    const outcome = await denoEnvSecrets({ origins: { 'probe-x': ['code'] } }).resolve({ id: 'probe-x' }, asked).then((s) => s.reveal(), (e) => e.code);
    console.log(outcome);
  `;
  const command = new Deno.Command(Deno.execPath(), {
    args: ['run', '--no-prompt', ...permissions, `data:text/javascript,${encodeURIComponent(script)}`],
    env: { PINNACE_SECRET_PROBE_X: 'sk-live-probe' },
  });
  const { stdout, stderr } = await command.output();
  return new TextDecoder().decode(stdout).trim() || new TextDecoder().decode(stderr);
}

describe('denoEnvSecrets in Deno', () => {
  it('reads and deletes a variable of the process', async () => {
    Deno.env.set('PINNACE_SECRET_TEST_DENO_ENV', 'sk-live-0123456789');
    const source = denoEnvSecrets({ delete: true, origins: { 'test-deno-env': ['code'] } });
    const secret = await source.resolve({ id: 'test-deno-env' }, { scope, signal });
    expect(secret.reveal()).toBe('sk-live-0123456789');
    expect(Deno.env.has('PINNACE_SECRET_TEST_DENO_ENV')).toBe(false);
    expect(Deno.inspect({ secret })).toContain('[secret test-deno-env]');
  });

  it('is forbidden without the permission, and needs it for the one variable only', async () => {
    expect(await probe()).toBe('forbidden');
    expect(await probe('--allow-env=OTHER')).toBe('forbidden');
    expect(await probe('--allow-env=PINNACE_SECRET_PROBE_X')).toBe('sk-live-probe');
  });
});
