/** Takes secrets out of data, text by text: whatever the texts become, the data stays JSON of the same shape. */

/** Gives data without them: in values, in the names of fields, and in numbers, which become text. `data` must be JSON. */
export function redactData<T>(data: T, redact: (text: string) => string): T {
  let changed = false;
  const safe = <V>(value: V): V | string => {
    const text = String(value);
    const redacted = redact(text);
    if (redacted === text) return value;
    changed = true;
    return redacted;
  };
  const text = JSON.stringify(data, (_, value: unknown) => {
    if (typeof value === 'string' || typeof value === 'number') return safe(value);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const entries = Object.entries(value).map(([name, inner]) => [safe(name), inner] as const);
    return changed ? Object.fromEntries(entries) : value;
  });
  return changed ? JSON.parse(text) as T : data; // the same but for texts
}
