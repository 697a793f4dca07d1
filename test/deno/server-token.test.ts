import { describe, expect, it } from 'vitest';

describe('the sample endpoint', () => {
  it('says in one line that PINNACE_TOKEN is too short, and exits with a code', async () => {
    const { code, stderr, stdout } = await new Deno.Command(Deno.execPath(), {
      args: [
        'serve',
        '--quiet',
        '--no-prompt',
        '--allow-env',
        '--allow-sys',
        '--host=127.0.0.1',
        '--port=0',
        'demo/server.ts',
      ],
      env: { PINNACE_TOKEN: 'too-short', NO_COLOR: '1' },
      stdout: 'piped',
      stderr: 'piped',
    }).output();
    expect(code).toBe(2);
    expect(new TextDecoder().decode(stderr).trim()).toBe(
      'PINNACE_TOKEN has 9 characters and needs at least 16. Choose a longer one, or unset it to get a random token.',
    );
    expect(new TextDecoder().decode(stdout)).toBe('');
  });
});
