/** An office file as a package of parts: a ZIP archive of XML files (ISO/IEC 29500-2, ISO/IEC 26300-3). */

import { createTurns, requireRunning } from '../turns.ts';
import { openZip, type ZipEntry } from '../zip.ts';
import { type Attributes, invalidDocument, readXml, type XmlHandler } from './xml.ts';

/** An opened file. */
export interface OfficePackage {
  readonly has: (path: string) => boolean;
  /** Reads a part. One that does not exist says nothing. @throws PinnaceError `invalid_argument`; `cancelled` with the signal. */
  readonly read: (path: string, handler: XmlHandler) => Promise<void>;
  /** Returns the targets of a part's relationships by their ids, as paths within the package. */
  readonly relationsOf: (path: string) => Promise<ReadonlyMap<string, Relation>>;
}

/** A reference from one part to another. */
export interface Relation {
  readonly type: string;
  readonly path: string;
}

/** What all parts that are read may take together, in bytes. */
const mostBytes = 67_108_864;

/** Opens the file. @throws PinnaceError `invalid_argument` with the reason `invalid_archive` for what is no ZIP archive. */
export function openPackage(file: Uint8Array<ArrayBuffer>, signal: AbortSignal | undefined): OfficePackage {
  const entries = new Map(openZip(file).map((entry) => [entry.path, entry] as const));
  const turns = createTurns(signal);
  let read = 0;
  const bytesOf = async (entry: ZipEntry): Promise<Uint8Array<ArrayBuffer>> => {
    requireRunning(signal);
    read += entry.size; // `read` rejects for a part that is longer than it says
    if (read > mostBytes) throw invalidDocument(`its parts take more than ${mostBytes / 1_048_576} MiB`);
    return await entry.read();
  };
  const readPart = async (path: string, handler: XmlHandler): Promise<void> => {
    const entry = entries.get(path);
    if (entry) await readXml(await bytesOf(entry), handler, turns);
  };
  return {
    has: (path) => entries.has(path),
    read: readPart,
    relationsOf: (path) => relationsOf(path, readPart),
  };
}

async function relationsOf(path: string, read: OfficePackage['read']): Promise<Map<string, Relation>> {
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  const relations = new Map<string, Relation>();
  const open = (name: string, { Id, Target, Type, TargetMode }: Attributes): void => {
    if (name !== 'Relationship' || !Id || !Target || TargetMode === 'External') return;
    const type = Type?.slice(Type.lastIndexOf('/') + 1) ?? '';
    relations.set(Id, { type, path: within(folder, Target) });
  };
  await read(`${folder}_rels/${path.slice(folder.length)}.rels`, { open });
  return relations;
}

/** Resolves a target, which never leaves the package. */
function within(folder: string, target: string): string {
  return URL.parse(target, `package:///${folder}`)?.pathname.slice(1) ?? '';
}
