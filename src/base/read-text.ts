/** Reads a body as text. */

/** Returns the text of a body, or the error that broke it: `Response.text()` puts another in its place in some browsers. */
export async function readText(body: ReadableStream<Uint8Array<ArrayBuffer>> | null): Promise<string> {
  if (body === null) return '';
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = '';
  while (true) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
  }
}
