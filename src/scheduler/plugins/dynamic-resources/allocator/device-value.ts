/** The variable `device` of selectors, as a CEL value. */
import type { Device, DeviceAttribute } from "../../../../api/generated/resource.k8s.io/v1.ts";
import { quantityValue } from "../../../../cel/library/quantities.ts";
import { semverValue } from "../../../../cel/library/semvers.ts";
import { EntryMap } from "../../../../cel/values/containers.ts";
import { CelError, MapValue, type CelResult, type CelValue } from "../../../../cel/values/value.ts";

/** A value, or why the device cannot be evaluated. */
export function deviceValue(driver: string, device: Device): MapValue | CelError {
  const attributes = byDomain(driver, device.attributes ?? {}, (name, attribute) => attributeValue(name, attribute));
  if (attributes instanceof CelError) return attributes;
  const capacity = byDomain(driver, device.capacity ?? {}, (_name, { value }) => quantityValue(value));
  if (capacity instanceof CelError) return capacity;
  return EntryMap.of([
    ["driver", driver],
    ["allowMultipleAllocations", device.allowMultipleAllocations === true],
    ["attributes", attributes],
    ["capacity", capacity],
  ]);
}

/** Lists are not supported: their feature gate is off by default. */
function attributeValue(name: string, { int, bool, string, version }: DeviceAttribute): CelResult {
  if (int !== undefined) return BigInt(int);
  if (bool !== undefined) return bool;
  if (string !== undefined) return string;
  if (version === undefined) return new CelError(`attribute ${name}: unsupported attribute value`);
  const value = semverValue(version);
  return value instanceof CelError ? new CelError(`attribute ${name}: parse semantic version: ${value.message}`) : value;
}

/** Two levels: names without a domain are in that of the driver. An unknown domain is empty, so that its attributes can be tested with has(). */
function byDomain<T>(
  driver: string,
  members: Readonly<Record<string, T>>,
  valueOf: (name: string, member: T) => CelResult,
): MapValue | CelError {
  const domains = new Map<string, [CelValue, CelValue][]>();
  for (const [name, member] of Object.entries(members)) {
    const value = valueOf(name, member);
    if (value instanceof CelError) return value;
    const slash = name.indexOf("/");
    const domain = slash < 0 ? driver : name.slice(0, slash);
    const entries = domains.get(domain) ?? [];
    domains.set(domain, entries);
    entries.push([name.slice(slash + 1), value]);
  }
  const maps: [CelValue, CelValue][] = [];
  for (const [domain, entries] of domains) {
    const map = EntryMap.of(entries);
    if (map instanceof CelError) return map;
    maps.push([domain, map]);
  }
  const known = EntryMap.of(maps);
  return known instanceof CelError ? known : new DefaultingMap(known);
}

/** Looks up an empty map for every unknown key. */
class DefaultingMap extends MapValue {
  readonly #known: MapValue;

  constructor(known: MapValue) {
    super();
    this.#known = known;
  }

  get size(): number {
    return this.#known.size;
  }

  find(key: CelValue): CelResult | undefined {
    return this.#known.find(key) ?? EMPTY;
  }

  keys(): readonly CelValue[] {
    return this.#known.keys();
  }

  override contains(key: CelValue): boolean | CelError {
    return this.#known.contains(key);
  }
}

const EMPTY = EntryMap.of([]);
