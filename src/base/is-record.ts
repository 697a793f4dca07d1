/** Returns whether a value is an object that is neither `null` nor an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value when it is a record, else an empty record. */
export function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

/** Returns the value when it is an array, else an empty one. */
export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns JSON without members that are null: clients in many languages write it for what they leave out. Members in `asIs` stay. */
export function withoutNulls(data: unknown, asIs: ReadonlySet<string> = new Set()): unknown {
  if (Array.isArray(data)) return data.map((item: unknown) => withoutNulls(item, asIs));
  if (!isRecord(data)) return data;
  const said = Object.entries(data).filter(([, value]) => value !== null);
  return Object.fromEntries(said.map(([name, value]) => [name, asIs.has(name) ? value : withoutNulls(value, asIs)]));
}
