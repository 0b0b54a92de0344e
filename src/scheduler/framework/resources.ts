/**
 * Amounts as the scheduler counts with them: plain numbers, read once from the quantities of the API. CPU in thousandths of a core, memory
 * and storage in bytes, everything else in whole pieces. Up to 2^53 they are exact (8 PiB); above, a node is too large to be filled anyway.
 */

export interface Resources {
  readonly milliCpu: number;
  readonly memoryBytes: number;
  readonly ephemeralStorageBytes: number;
  /** Extended resources, huge pages and attachable volumes, by name. Names with an amount of 0 may be there. */
  readonly scalars: ReadonlyMap<string, number>;
}

export const NO_SCALARS: ReadonlyMap<string, number> = new Map();

export const NO_RESOURCES: Resources = { milliCpu: 0, memoryBytes: 0, ephemeralStorageBytes: 0, scalars: NO_SCALARS };
