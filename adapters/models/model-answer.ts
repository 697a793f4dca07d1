/** Reads the answers of chat completion servers by their content, whatever their labels say, and as the AI SDK's parser wants them. */

import { createParser, type EventSourceParser } from 'eventsource-parser';
import { PinnaceError } from '../../src/base/errors.ts';
import { asRecord, isRecord } from '../../src/base/is-record.ts';
import { LeadingThoughts, ReasoningDetails } from './answer-thoughts.ts';

const longestDocument = 16 * 1_048_576;

/**
 * Returns the answer as a stream of events with chunks of a chat completion. A completion in one document becomes a stream. What says
 * nothing is left out: heartbeats, empty events, and events of other kinds. An answer that starts with an error has the status that
 * the error names, so that the AI SDK reads it as every other error.
 * @throws PinnaceError `unavailable` with the reason `provider_invalid_response` for anything else, such as a web page.
 */
export async function readAnswer(response: Response): Promise<Response> {
  if (!response.ok || !response.body) return response;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    let start = '';
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      start = next.value; // what comes before is space
      if (start.trim() !== '') break;
    }
    const first = start.trimStart().charAt(0);
    if (first === '<') throw noAnswer(response);
    if (first === '{' || first === '[') start = toStream(await readAll(reader, start), response);
    const events = new EventReader(reader, start);
    const opening = await events.read();
    const failed = opening?.startsWith('{"error":') ? asRecord(JSON.parse(opening.split('\n', 1)[0] ?? '')) : undefined;
    if (failed) {
      void reader.cancel().catch(() => undefined);
      return failedResponse(asRecord(failed['error']), response);
    }
    return new Response(events.stream(opening), { headers: eventStream(response) });
  } catch (error) {
    void reader.cancel(error).catch(() => undefined);
    throw error;
  }
}

function eventStream({ headers }: Response): Headers {
  const own = new Headers(headers);
  own.set('content-type', 'text/event-stream');
  for (const name of ['content-length', 'content-encoding']) own.delete(name);
  return own;
}

type TextReader = ReadableStreamDefaultReader<string>;

async function readAll(reader: TextReader, start: string): Promise<string> {
  let text = start;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    text += next.value;
    if (text.length > longestDocument) throw tooLong();
  }
  return text;
}

/** A document where a stream was requested: an error, a whole completion, or chunks without the marks of events, one a line. */
function toStream(text: string, response: Response): string {
  const events = parsedAll(text)?.flatMap(toEvents);
  const failed = events?.find(({ error }) => isRecord(error));
  const hasAnswer = events?.some(({ choices }) => Array.isArray(choices) && choices.length > 0);
  if (!events || !(failed || hasAnswer)) throw noAnswer(response);
  return [...failed ? [failed] : events, done].map((event) =>
    `data: ${event === done ? done : JSON.stringify(event)}\n\n`
  )
    .join('');
}

function parsedAll(text: string): readonly unknown[] | undefined {
  const whole = parsed(text);
  if (whole.ok) return [whole.value].flat();
  const lines = text.split('\n').filter((line) => line.trim() !== '').map(parsed);
  return lines.every(({ ok }) => ok) ? lines.map((line) => line.ok ? line.value : undefined) : undefined;
}

function parsed(text: string): { readonly ok: true; readonly value: unknown } | { readonly ok: false } {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false };
  }
}

/** Reads the events that say something, as JSON texts, one a line. */
class EventReader {
  readonly #reader: TextReader;
  readonly #parser: EventSourceParser;
  #ready: string[] = [];
  #hasAnswer = false;
  #hasCall = false;
  #hasFinish = false;
  #isDone = false;
  readonly #calls = new CallsOfAnswer();
  readonly #thoughts = new LeadingThoughts();
  #details: ReasoningDetails | undefined;

  constructor(reader: TextReader, start: string) {
    this.#reader = reader;
    this.#parser = createParser({ onEvent: ({ data }) => normalized(data).forEach((event) => this.#take(event)) });
    this.#parser.feed(start);
  }

  /** An answer that is said to be done has finished, also where the server never said why. What follows is none of it. */
  #take(event: string): void {
    if (this.#isDone) return;
    if (event === done) {
      this.#flush();
      if (this.#hasAnswer && !this.#hasFinish) this.#ready.push(finishAs(this.#hasCall ? 'tool_calls' : 'stop'));
      this.#isDone = true;
      this.#ready.push(event);
      return;
    }
    this.#hasAnswer ||= event.includes('"delta":');
    if (event.includes('"tool_calls":[{')) {
      this.#hasCall = true;
      event = this.#calls.withoutRepeated(event);
    }
    const isEnd = /"finish_reason":\s*"\w|"error":/.test(event);
    this.#hasFinish ||= isEnd;
    if (!this.#thoughts.isOver && /"content":\s*"[^"]/.test(event)) event = splitThoughts(event, this.#thoughts);
    if (isEnd) this.#endThoughts();
    if (event.includes('"native_finish_reason":') || event.includes('"reasoning_details":[{')) {
      this.#details ??= new ReasoningDetails(); // OpenRouter's
    }
    this.#ready.push(...this.#details && !event.startsWith('{"error":') ? this.#details.take(event) : [event]);
  }

  /** What waits for more comes no more. */
  #flush(): void {
    this.#endThoughts();
    this.#ready.push(...this.#details?.rest() ?? []);
  }

  #endThoughts(): void {
    if (this.#thoughts.isOver) return;
    const { thoughts, said } = this.#thoughts.split('', { isLast: true });
    if (thoughts !== '' || said !== '') this.#ready.push(deltaAs({ reasoning_content: thoughts, content: said }));
  }

  async read(): Promise<string | undefined> {
    while (this.#ready.length === 0) {
      const { done, value } = await this.#reader.read();
      this.#parser.feed(done ? '\n\n' : value); // an event whose end is missing counts
      if (done) this.#flush();
      if (done && this.#ready.length === 0) return undefined;
    }
    return this.#ready.splice(0).join('\n');
  }

  stream(opening: string | undefined): ReadableStream<Uint8Array<ArrayBuffer>> {
    const encoder = new TextEncoder();
    let next = opening;
    return new ReadableStream({
      pull: async (controller) => {
        const events = next ?? await this.read();
        next = undefined;
        if (events === undefined) controller.close();
        else controller.enqueue(encoder.encode(`data: ${events.replaceAll('\n', '\n\ndata: ')}\n\n`));
      },
      cancel: (reason) => this.#reader.cancel(reason),
    });
  }
}

/** The calls of an answer. Some servers send each call in pieces, and at the end all of them again, whole. */
class CallsOfAnswer {
  readonly #calls = new Map<unknown, { readonly id: unknown; input: string }>();

  /** Returns the event without calls that the answer has already: the same place, id and input. */
  withoutRepeated(event: string): string {
    const json = parsed(event);
    if (!json.ok || !isRecord(json.value) || !Array.isArray(json.value['choices'])) return event;
    let hasRepeated = false;
    const choices = json.value['choices'].map(asRecord).map((choice) => {
      const delta = asRecord(choice['delta']);
      const calls = delta['tool_calls'];
      const fresh = Array.isArray(calls) ? calls.map(asRecord).filter((call) => !this.#isRepeated(call)) : calls;
      hasRepeated ||= Array.isArray(calls) && Array.isArray(fresh) && fresh.length < calls.length;
      return { ...choice, delta: { ...delta, tool_calls: fresh } };
    });
    return hasRepeated ? JSON.stringify({ ...json.value, choices }) : event;
  }

  #isRepeated({ id, index, function: given }: JsonObject): boolean {
    const { name, arguments: input } = asRecord(given);
    const text = typeof input === 'string' ? input : '';
    const known = this.#calls.get(index);
    if (!known || (id && id !== known.id)) {
      this.#calls.set(index, { id, input: text });
      return false;
    }
    if (id && name && text !== '' && text === known.input && parsed(text).ok) return true;
    known.input += text;
    return false;
  }
}

const done = '[DONE]';

function deltaAs(delta: JsonObject): string {
  return JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] });
}

function splitThoughts(event: string, leading: LeadingThoughts): string {
  const json = parsed(event);
  if (!json.ok || !isRecord(json.value) || !Array.isArray(json.value['choices'])) return event;
  const [choice, ...others] = json.value['choices'].map(asRecord);
  const delta = asRecord(choice?.['delta']);
  if (typeof delta['content'] !== 'string') return event;
  const { thoughts, said } = leading.split(delta['content']);
  if (thoughts === '' && said === delta['content']) return event;
  const split = { ...delta, content: said, ...(thoughts !== '' && { reasoning_content: thoughts }) };
  return JSON.stringify({ ...json.value, choices: [{ ...choice, delta: split }, ...others] });
}

function finishAs(finish: string): string {
  return JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: finish }] });
}

/** What nearly all events are: their JSON needs no second look. */
function isPlain(data: string): boolean {
  return data.startsWith('{') && !data.includes('\n') && data.includes('"choices":[{') && data.includes('"delta":{') &&
    (!data.includes('"role"') || data.includes('"role":"assistant"')) &&
    (!data.includes('"tool_calls":[{') || data.includes('"function":{')) && !unusual.test(data);
}

/** Fields that some servers write otherwise than OpenAI does. */
const unusual =
  /"error"|"(?:arguments|tool_calls|function_call|usage|reasoning(?:_content)?)":\s*\{|"(?:reasoning(?:_content)?|arguments)":\s*\[|"reasoning_(?:text|details)":|"parameters":|"created":\s*"|"id":\s*\d|"index":\s*"|"finish_reason":\s*"error/;

function normalized(data: string): readonly string[] {
  if (isPlain(data)) return [data];
  const text = data.trim().replace(/^(?:data:\s*)+/, ''); // gateways write it twice
  if (text.toUpperCase() === done) return [done];
  if (!text.startsWith('{') && !text.startsWith('[')) return []; // empty, null, or a word
  const json = parsed(text);
  if (json.ok) return [json.value].flat().flatMap(toEvents).map((event) => JSON.stringify(event));
  const lines = text.split('\n'); // of a server that ends events without a blank line
  if (lines.length > 1 && lines.every((line) => line.trim().toUpperCase() === done || parsed(line).ok)) {
    return lines.flatMap(normalized);
  }
  return [lines.join(' ')]; // an answer that was cut: its reader says so
}

type JsonObject = Readonly<Record<string, unknown>>;

/** The chunk of a completion, or the error, that an object is; none for what is neither. An error may follow the last words. */
function toEvents(value: unknown): readonly JsonObject[] {
  if (!isRecord(value)) return [];
  const { error: _, id, created, model, usage: __, choices, ...others } = value;
  const reported = errorIn(value);
  const used = usageOf(value);
  const rest = {
    ...others,
    ...(typeof id === 'string' && { id }),
    ...(typeof created === 'number' && { created }),
    ...(typeof model === 'string' && { model }),
    ...(used && { usage: used }),
  };
  const answers = Array.isArray(choices) ? choices.map(toChoice) : [];
  if (!reported) return answers.length > 0 || used ? [{ ...rest, choices: answers }] : [];
  const said = answers.filter(({ delta }) => isRecord(delta) && Object.values(delta).some(Boolean));
  return said.length > 0 ? [{ ...rest, choices: said }, { error: reported }] : [{ error: reported }];
}

/** The usage, which some servers put beside an answer or into a field of their own. Without a count it says nothing: it is estimated. */
function usageOf({ usage, choices, x_groq: own }: JsonObject): JsonObject | undefined {
  const places = [usage, ...[choices, own].flat().map((one) => asRecord(one)['usage'])];
  const counts = toUsage(places.find(isRecord) ?? {});
  const { prompt_tokens: input = counts['input_tokens'], completion_tokens: output = counts['output_tokens'] } = counts;
  if (!input && !output) return undefined;
  return { ...counts, prompt_tokens: input, completion_tokens: output };
}

/** Counts that are no numbers say nothing. */
function toUsage(usage: JsonObject): JsonObject {
  const counts = Object.entries(usage).filter(([, value]) => isRecord(value) || typeof value === 'number');
  return Object.fromEntries(counts.map(([name, value]) => [name, isRecord(value) ? toUsage(value) : value]));
}

/** A whole message counts as its own delta, and is complete; so does the text of a completion without roles. */
function toChoice(choice: unknown): JsonObject {
  const { message, text, error: _, ...others } = asRecord(choice);
  const whole = message ?? (typeof text === 'string' ? { content: text } : undefined);
  const { delta = whole, finish_reason: reason = isRecord(message) ? 'stop' : null, ...rest } = others;
  if (!isRecord(delta)) return { ...rest, finish_reason: reason };
  const { role, tool_calls: calls, function_call: only, reasoning_text: own, reasoning_details: details, ...plain } =
    delta;
  const { reasoning, reasoning_content: thoughts = reasoning === undefined ? own ?? details : undefined, ...said } =
    plain;
  const called = calls ?? (isRecord(only) ? { function: only } : []);
  return {
    ...rest,
    finish_reason: reason === 'error' ? null : reason,
    delta: {
      ...said,
      ...(role === 'assistant' && { role }),
      ...(reasoning !== undefined && { reasoning: textOf(reasoning) }),
      ...(thoughts !== undefined && { reasoning_content: textOf(thoughts) }),
      ...(details !== undefined && { reasoning_details: details }),
      ...((calls || isRecord(only)) && { tool_calls: [called].flat().map(toCallDelta) }),
    },
  };
}

/** The text of what may be in parts, or in an object. */
function textOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return [value].flat().map((part: unknown) => {
    const { content, summary = content, text = summary } = asRecord(part);
    return typeof part === 'string' ? part : text;
  }).filter((text) => typeof text === 'string').join('');
}

/** The name and the input may be fields of the call itself; PHP writes an input without fields as a list. */
function toCallDelta(call: unknown, at: number): unknown {
  const { index = at, id, function: given, name, arguments: own, input: its, ...rest } = asRecord(call);
  const flat = { ...(typeof name === 'string' && { name }), arguments: own ?? its };
  const { parameters, arguments: input = parameters, ...named } = asRecord(isRecord(given) ? given : flat);
  const text = isRecord(input) ? JSON.stringify(input) : Array.isArray(input) ? '{}' : input;
  const place = typeof index === 'string' ? Number(index) : index;
  const identified = id === undefined ? {} : { id: typeof id === 'number' ? String(id) : id };
  return {
    ...rest,
    ...identified,
    index: place,
    function: { ...named, ...(text !== undefined && { arguments: text }) },
  };
}

/** The error that an object reports, in OpenAI's form. Servers also write a text, `detail`, or the error itself. */
function errorIn(value: JsonObject): JsonObject | undefined {
  const { error, choices, detail } = value;
  const isBare = value['object'] === 'error' || value['type'] === 'error' || (!choices && isFailure(value));
  const [choice] = Array.isArray(choices) ? choices.map(asRecord) : [];
  const found = error ?? choice?.['error'] ?? (isBare || !choices ? detail : undefined) ??
    (isBare ? bareError(value) : undefined) ??
    (choice?.['finish_reason'] === 'error' ? 'The provider ended its answer with an error' : undefined);
  if (!found || (choices && isRecord(found) && Object.keys(found).length === 0)) return undefined;
  const {
    __type: exception,
    error_code: own,
    message = asRecord(found)['msg'],
    type = exception,
    code = own,
    status,
    param,
  } = asRecord(found);
  const text = typeof found === 'string' ? found : typeof message === 'string' ? message : JSON.stringify(found);
  const given = [code, status, value['code'], value['status']].filter((one) =>
    typeof one === 'number' || typeof one === 'string'
  );
  const named = statusOf([...given, type]) ?? statusOf([text]);
  return {
    message: text,
    ...(typeof type === 'string' && { type }),
    ...(param !== undefined && { param }),
    code: named ?? given[0],
  };
}

/** Whether an object without an answer says that it is a failure, as gateways of some vendors do with the status 200. */
function isFailure(value: JsonObject): boolean {
  const { success, msg, message, type, code, base_resp: base, errors, fault } = value;
  const codes = [code, value['__type'], value['error_code']];
  const isNamed = codes.some((one) => one !== undefined) || Object.keys(value).length === 1 ||
    (typeof type === 'string' && /error|exception/i.test(type));
  return success === false || isRecord(base) || isRecord(fault) || (Array.isArray(errors) && errors.length > 0) ||
    (isNamed && (typeof msg === 'string' || typeof message === 'string'));
}

function bareError(value: JsonObject): JsonObject {
  const { base_resp: base, errors, fault } = value;
  if (isRecord(base)) return { message: base['status_msg'], code: base['status_code'] };
  if (isRecord(fault)) return { message: fault['faultstring'] };
  const [first] = Array.isArray(errors) ? errors : [];
  return typeof first === 'string' ? { message: first } : isRecord(first) ? first : value;
}

const statuses: readonly (readonly [RegExp, number])[] = [
  [/rate.?limit|too.?many|quota|exhausted/i, 429],
  [/overload|unavailable|capacity/i, 503],
  [/auth|api.?key|permission|forbidden/i, 401],
  [/not.?found/i, 404],
  [/invalid|bad.?request|context.?length|unsupported/i, 400],
];

function statusOf(named: readonly unknown[]): number | undefined {
  const number = named.map(Number).find((one) => Number.isInteger(one) && one >= 400 && one < 600);
  const words = named.filter((one) => typeof one === 'string').join(' ');
  return number ?? statuses.find(([pattern]) => pattern.test(words))?.[1];
}

/** An error without a known status gets 500, which may be retried. */
function failedResponse(error: JsonObject, response: Response): Response {
  const headers = new Headers(response.headers);
  for (const name of ['content-length', 'content-encoding']) headers.delete(name);
  headers.set('content-type', 'application/json');
  return new Response(JSON.stringify({ error }), { status: statusOf([error['code']]) ?? 500, headers });
}

function noAnswer({ headers }: Response): PinnaceError {
  const [type = ''] = (headers.get('content-type') ?? '').toLowerCase().split(';');
  const what = type.trim() === '' ? 'a document' : type.trim();
  return new PinnaceError(
    'unavailable',
    `The model endpoint answered ${what} instead of a stream of events: check its base URL`,
    { retryable: false, details: { reason: 'provider_invalid_response' } },
  );
}

function tooLong(): PinnaceError {
  return new PinnaceError('unavailable', 'The model endpoint answered one document that is too long to be an answer', {
    retryable: false,
    details: { reason: 'provider_invalid_response' },
  });
}
