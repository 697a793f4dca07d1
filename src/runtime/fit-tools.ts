/** Tools for providers that take the names of parameters in ASCII letters alone. */

import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import { asRecord, isRecord } from '../base/is-record.ts';

type Tools = NonNullable<LanguageModelV4CallOptions['tools']>;
/** The names of a tool's parameters by those that the model receives instead. */
type Names = ReadonlyMap<string, string>;

/** Calls the model with other names for the parameters that do not match, and changes them back in its calls. */
export async function streamWithNames(
  model: LanguageModelV4,
  { tools = [], ...options }: LanguageModelV4CallOptions,
  form: RegExp,
): Promise<LanguageModelV4StreamResult> {
  const renamed = new Map<string, Names>();
  const fitted = tools.map((tool) => {
    const names = namesOf(tool, form);
    if (tool.type !== 'function' || !names) return tool;
    renamed.set(tool.name, names);
    const inputSchema = {
      ...tool.inputSchema,
      ...schemaWith(names, asRecord(tool.inputSchema)),
    } as typeof tool.inputSchema; // one still
    return { ...tool, inputSchema };
  });
  const { stream, ...rest } = await model.doStream({ ...options, tools: fitted });
  const restore = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
    transform(part, controller) {
      const names = part.type === 'tool-call' ? renamed.get(part.toolName) : undefined;
      controller.enqueue(
        part.type === 'tool-call' && names ? { ...part, input: inputWith(names, part.input) } : part,
      );
    },
  });
  return { ...rest, stream: stream.pipeThrough(restore) };
}

function parametersOf({ inputSchema }: Extract<Tools[number], { type: 'function' }>): readonly string[] {
  return Object.keys(asRecord(asRecord(inputSchema)['properties']));
}

function namesOf(tool: Tools[number], form: RegExp): Names | undefined {
  if (tool.type !== 'function') return undefined;
  const own = parametersOf(tool);
  const odd = own.filter((name) => !form.test(name));
  if (odd.length === 0) return undefined;
  const taken = new Set(own);
  return new Map(odd.map((name) => {
    const plain = name.replace(/[^a-zA-Z0-9_.-]+/g, '_').slice(0, 60);
    let shown = plain;
    for (let n = 2; taken.has(shown) || shown === ''; n++) shown = `${plain}_${n}`;
    taken.add(shown);
    return [shown, name] as const;
  }));
}

/** What describes a parameter says what it is called. */
function schemaWith(names: Names, { properties, required }: Readonly<Record<string, unknown>>) {
  const shownOf = new Map(Array.from(names, ([shown, own]) => [own, shown]));
  const entries = Object.entries(asRecord(properties)).map(([own, schema]) => {
    const shown = shownOf.get(own);
    if (shown === undefined) return [own, schema] as const;
    const { description, ...rest } = asRecord(schema);
    const said = typeof description === 'string' ? `: ${description}` : '';
    return [shown, { ...rest, description: `${JSON.stringify(own)}${said}` }] as const;
  });
  return {
    properties: Object.fromEntries(entries),
    ...(Array.isArray(required) && { required: required.map(String).map((own) => shownOf.get(own) ?? own) }),
  };
}

function inputWith(names: Names, text: string): string {
  try {
    const input: unknown = JSON.parse(text);
    if (!isRecord(input)) return text;
    return JSON.stringify(
      Object.fromEntries(Object.entries(input).map(([name, value]) => [names.get(name) ?? name, value])),
    );
  } catch {
    return text; // its reader says so
  }
}
