/**
 * Resource amounts as plain numbers, parsed once from API quantities. CPU in thousandths of a core, memory and storage in bytes, everything
 * else in units. Exact up to 2^53 (8 PiB); above, a node is too large to be filled anyway.
 */

export interface Resources {
  readonly milliCpu: number;
  readonly memoryBytes: number;
  readonly ephemeralStorageBytes: number;
  /** Extended resources, huge pages and attachable volumes, by name. Names with an amount of 0 may be present. */
  readonly scalars: ReadonlyMap<string, number>;
}

export const NO_SCALARS: ReadonlyMap<string, number> = new Map();

export const NO_RESOURCES: Resources = { milliCpu: 0, memoryBytes: 0, ephemeralStorageBytes: 0, scalars: NO_SCALARS };
