/** An office file as a package of parts: a ZIP archive of XML files (ISO/IEC 29500-2, ISO/IEC 26300-3). */

import { createTurns, requireRunning, type Turns } from '../../../src/base/turns.ts';
import { openZip, type ZipEntry } from '../zip.ts';
import { type Attributes, invalidDocument, readXml, type XmlHandler } from './xml.ts';

/** An opened file. Names of parts do not depend on case. */
export interface OfficePackage {
  readonly turns: Turns;
  readonly has: (path: string) => boolean;
  readonly paths: () => Iterable<string>;
  /** Reads a part. One that does not exist says nothing. @throws PinnaceError `invalid_argument`; `cancelled` with the signal. */
  readonly read: (path: string, handler: XmlHandler) => Promise<void>;
  readonly bytes: (path: string) => Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Returns the relationships of a part, or of the package for an empty path. */
  readonly relationsOf: (path: string) => Promise<Relations>;
}

export interface Relation {
  readonly type: string;
  readonly path: string;
}

export interface Relations {
  readonly byId: ReadonlyMap<string, Relation>;
  /** The path of the first relation of a type. `usual` is where most programs write it, for packages that do not say. */
  readonly pathOf: (type: string, usual: string) => string;
}

/** What all parts that are read may take together, in bytes. */
const mostBytes = 67_108_864;

/** Opens the file. @throws PinnaceError `invalid_argument` with the reason `invalid_archive` for what is no ZIP archive. */
export async function openPackage(
  file: Uint8Array<ArrayBuffer>,
  signal: AbortSignal | undefined,
): Promise<OfficePackage> {
  requireRunning(signal);
  const entries = new Map((await openZip(file)).map((entry) => [entry.path.toLowerCase(), entry] as const));
  const turns = createTurns(signal);
  let read = 0;
  const bytesOf = async (entry: ZipEntry): Promise<Uint8Array<ArrayBuffer>> => {
    requireRunning(signal);
    read += entry.size; // `read` rejects for a part that is longer than it says
    if (read > mostBytes) {
      throw invalidDocument(`with "${entry.path}", its parts take more than ${mostBytes / 1_048_576} MiB`);
    }
    return await entry.read();
  };
  const bytes = async (path: string): Promise<Uint8Array<ArrayBuffer> | undefined> => {
    const entry = entries.get(path.toLowerCase());
    return entry && await bytesOf(entry);
  };
  const readPart = async (path: string, handler: XmlHandler): Promise<void> => {
    const content = await bytes(path);
    if (content) await readXml(content, handler, { turns, path });
  };
  return {
    turns,
    has: (path) => entries.has(path.toLowerCase()),
    paths: () => entries.keys(),
    bytes,
    read: readPart,
    relationsOf: (path) => relationsOf(path, readPart),
  };
}

async function relationsOf(path: string, read: OfficePackage['read']): Promise<Relations> {
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  const byId = new Map<string, Relation>();
  const open = (name: string, { Id, Target, Type, TargetMode }: Attributes): void => {
    if (name !== 'Relationship' || !Id || !Target || TargetMode === 'External') return;
    const type = Type?.slice(Type.lastIndexOf('/') + 1) ?? '';
    byId.set(Id, { type, path: within(folder, Target) });
  };
  await read(`${folder}_rels/${path.slice(folder.length)}.rels`, { open });
  return {
    byId,
    pathOf: (type, usual) => byId.values().find((relation) => relation.type === type)?.path ?? usual,
  };
}

/** Resolves a target, which never leaves the package. */
function within(folder: string, target: string): string {
  const path = URL.parse(target, `package:///${folder}`)?.pathname.slice(1) ?? '';
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // a percent sign that escapes nothing
  }
}
