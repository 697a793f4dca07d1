/** Says when a response was read. */

/** Calls `done` when the response is read to its end, or canceled. */
export function whenRead(response: Response, done: () => void): Response {
  if (response.body === null) {
    done();
    return response;
  }
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  void response.body.pipeTo(writable).catch(() => undefined).finally(done);
  return new Response(readable, response);
}
