/** Servers that are a function: requests are recorded, answers are given. */

/** A `fetch` that keeps the requests it was called with. */
export interface FakeFetch {
  readonly fetch: (request: Request) => Promise<Response>;
  readonly requests: Request[];
}

/** Creates a `fetch` with given answers. */
export function fakeFetch(answer: (request: Request) => Response | Promise<Response>): FakeFetch {
  const requests: Request[] = [];
  return {
    requests,
    fetch: async (request) => {
      requests.push(request);
      return await answer(request);
    },
  };
}

export function json(data: unknown, init?: ResponseInit): Response {
  return new Response(JSON.stringify(data), init);
}

/** A body that comes in pieces, for ever; `taken` counts them. */
export function endlessBody(
  bytesPerPiece: number,
): { body: ReadableStream<Uint8Array<ArrayBuffer>>; taken: () => number } {
  let pieces = 0;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      pieces++;
      controller.enqueue(new Uint8Array(bytesPerPiece).fill(0x20));
    },
  }, { highWaterMark: 0 });
  return { body, taken: () => pieces };
}
