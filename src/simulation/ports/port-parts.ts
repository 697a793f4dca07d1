import type { Storage } from '../../contracts/storage.ts';
import type { Instance } from '../instance.ts';
import type { Observed } from '../records.ts';
import type { VirtualTime } from '../time/virtual-time.ts';

/** What the ports of one instance share. */
export interface PortParts {
  readonly time: VirtualTime;
  readonly instance: Instance;
  readonly observed: Observed;
  /** The storages of this instance by name, without faults. */
  readonly storages: Map<string, Storage>;
}
