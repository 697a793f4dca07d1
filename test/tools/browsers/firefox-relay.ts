#!/usr/bin/env -S deno run --allow-all --no-config
/**
 * Adapts Firefox to Playwright: starts the Firefox that `FIREFOX` names with the given arguments, and relays their messages,
 * because Playwright speaks a newer WebDriver BiDi than Firefox 153. Playwright sets the color scheme of each context with a
 * command that Firefox lacks, and needs a name for each download. It reads the relay's address from the standard output.
 */

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

const unknown = 'emulation.setMediaFeaturesOverride';

/** Returns the address that Firefox says it listens at; passes on all else that it says. */
function listening(said: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = '';
  const read = async (): Promise<void> => {
    for await (const part of said.pipeThrough(new TextDecoderStream())) {
      const lines = (text + part).split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) {
        const address = /WebDriver BiDi listening on (ws:\S+)/.exec(line)?.[1];
        if (address) resolve(address);
        else console.error(line);
      }
    }
    reject(new Error('Firefox ended before it listened'));
  };
  void read();
  return promise;
}

function parse(data: unknown): Message {
  return JSON.parse(String(data)) as Message; // safe: both sides speak BiDi
}

/** Returns a download its address as its name where it has none. */
function named(data: unknown): string {
  const text = String(data);
  if (!text.includes('"browsingContext.download')) return text;
  const { params, ...rest } = parse(text);
  return JSON.stringify({ ...rest, params: { download: params?.['url'], ...params } });
}

function relay(client: WebSocket, browser: WebSocket): void {
  const waiting: string[] = [];
  client.addEventListener('message', ({ data }) => {
    const { id, method } = parse(data);
    if (method === unknown) client.send(JSON.stringify({ type: 'success', id, result: {} }));
    else if (browser.readyState === WebSocket.OPEN) browser.send(String(data));
    else waiting.push(String(data));
  });
  browser.addEventListener('open', () => waiting.splice(0).forEach((data) => browser.send(data)));
  browser.addEventListener('message', ({ data }) => client.send(named(data)));
  browser.addEventListener('close', () => client.close());
}

const firefox = new Deno.Command(Deno.env.get('FIREFOX') ?? 'firefox', { args: Deno.args, stderr: 'piped' }).spawn();
const address = await listening(firefox.stderr);
Deno.serve({
  hostname: '127.0.0.1',
  port: 0,
  onListen: ({ port }) => console.error(`WebDriver BiDi listening on ws://127.0.0.1:${port}`),
}, (request) => {
  const { socket, response } = Deno.upgradeWebSocket(request);
  relay(socket, new WebSocket(address + new URL(request.url).pathname));
  socket.addEventListener('close', () => firefox.kill()); // also if the test process was killed
  return response;
});
Deno.exit((await firefox.status).code);
