/** Reads what strangers send, field by field. */

/** A record whose fields are all unknown; what is no record has none. */
export function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isRecord ? value as Readonly<Record<string, unknown>> : {}; // safe: nothing is claimed of its fields
}
