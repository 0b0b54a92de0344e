/**
 * Constraints across the devices of one claim. Monotonic: what a constraint rejects, it also rejects after more devices were added, so that
 * the search stops at the first rejection.
 */
import type { Device, DeviceAttribute, DeviceConstraint } from "../../../../api/generated/resource.k8s.io/v1.ts";

/** A request as constraints and configuration reference it: "gpu", or "gpu" with the alternative "large". */
export interface RequestReference {
  readonly name: string;
  readonly alternative: string | undefined;
}

export interface Constraint {
  /** Whether the device may be added; if so it counts from now on, until `remove` is called with the same arguments. */
  add(request: RequestReference, driver: string, device: Device): boolean;
  remove(request: RequestReference, driver: string, device: Device): void;
}

/** Undefined if its kind is unknown. */
export function constraintOf({ matchAttribute, distinctAttribute, requests = [] }: DeviceConstraint): Constraint | undefined {
  if (matchAttribute !== undefined) return new MatchAttribute(matchAttribute, requests);
  if (distinctAttribute !== undefined) return new DistinctAttribute(distinctAttribute, requests);
  return undefined;
}

/** All devices have the attribute, with the same value. */
class MatchAttribute implements Constraint {
  readonly #attribute: string;
  readonly #requests: readonly string[];
  #value: string | undefined;
  #devices = 0;

  constructor(attribute: string, requests: readonly string[]) {
    this.#attribute = attribute;
    this.#requests = requests;
  }

  add(request: RequestReference, driver: string, device: Device): boolean {
    if (!concerns(this.#requests, request)) return true;
    const value = attributeText(this.#attribute, driver, device);
    if (value === undefined || (this.#devices > 0 && value !== this.#value)) return false;
    this.#value = value;
    this.#devices++;
    return true;
  }

  remove(request: RequestReference): void {
    if (concerns(this.#requests, request)) this.#devices--;
  }
}

/** All devices have the attribute, each with another value. */
class DistinctAttribute implements Constraint {
  readonly #attribute: string;
  readonly #requests: readonly string[];
  readonly #values = new Set<string>();

  constructor(attribute: string, requests: readonly string[]) {
    this.#attribute = attribute;
    this.#requests = requests;
  }

  add(request: RequestReference, driver: string, device: Device): boolean {
    if (!concerns(this.#requests, request)) return true;
    const value = attributeText(this.#attribute, driver, device);
    if (value === undefined || this.#values.has(value)) return false;
    this.#values.add(value);
    return true;
  }

  remove(request: RequestReference, driver: string, device: Device): void {
    if (!concerns(this.#requests, request)) return;
    const value = attributeText(this.#attribute, driver, device);
    if (value !== undefined) this.#values.delete(value);
  }
}

/** Without requests a constraint concerns all of the claim. */
function concerns(requests: readonly string[], { name, alternative }: RequestReference): boolean {
  if (requests.length === 0 || requests.includes(name)) return true;
  return alternative !== undefined && requests.includes(`${name}/${alternative}`);
}

/** The attribute with its type, comparable; undefined if the device does not have it. Names without a domain are in that of the driver. */
function attributeText(name: string, driver: string, { attributes = {} }: Device): string | undefined {
  const own = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
  if (own !== undefined) return textOf(own);
  const prefix = `${driver}/`;
  if (!name.startsWith(prefix)) return undefined;
  const short = name.slice(prefix.length);
  const found = Object.hasOwn(attributes, short) ? attributes[short] : undefined;
  return found === undefined ? undefined : textOf(found);
}

/** Versions have one spelling only in semver 2.0.0, so that they are compared as texts. */
function textOf({ string, int, bool, version }: DeviceAttribute): string | undefined {
  if (string !== undefined) return `string ${string}`;
  if (int !== undefined) return `int ${int}`;
  if (bool !== undefined) return `bool ${bool}`;
  return version === undefined ? undefined : `version ${version}`;
}
